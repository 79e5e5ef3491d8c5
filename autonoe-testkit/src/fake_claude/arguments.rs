//! [`Arguments`], the command-line arguments of the program.

use serde_json::Value;

/// The arguments that affect the program's output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) version: bool,
    pub(super) permission_mode: Option<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) settings: Value,
    pub(super) model: Option<String>,
    pub(super) session: Option<String>,
    /// MCP servers of the host, if the arguments name them.
    pub(super) servers: Vec<String>,
}

impl Arguments {
    /// Parses the arguments, in the forms `--name=value` and `--name value`.
    pub(super) fn read(args: &[String]) -> Self {
        let value = |name: &str| {
            args.iter().enumerate().find_map(|(at, arg)| {
                let rest = arg.strip_prefix("--")?.strip_prefix(name)?;
                match rest.strip_prefix('=') {
                    Some(value) => Some(value.to_owned()),
                    None if rest.is_empty() => args.get(at + 1).cloned(),
                    None => None,
                }
            })
        };
        let json = |text: Option<String>| -> Value {
            text.and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default()
        };
        let list = |text: String| {
            let names = text.split(',').map(str::trim);
            names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let config = json(value("mcp-config"));
        let servers = config["mcpServers"].as_object().into_iter().flatten();
        Self {
            version: args.iter().any(|arg| arg == "-v" || arg == "--version"),
            permission_mode: value("permission-mode"),
            tools: value("tools").map(list),
            settings: json(value("settings")),
            model: value("model"),
            session: value("session-id").or_else(|| value("resume")),
            servers: servers
                .filter(|(_, server)| server["type"] == "sdk")
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_an_argument_are_read() {
        let args = [
            "--verbose",
            "--permission-mode",
            "dontAsk",
            "--tools=Read,Bash",
            r#"--settings={"sandbox":{"enabled":true}}"#,
            r#"--mcp-config={"mcpServers":{"ours":{"type":"sdk"},"other":{"command":"x"}}}"#,
            "--resume=1234",
        ]
        .map(str::to_owned);

        assert_eq!(
            Arguments::read(&args),
            Arguments {
                version: false,
                permission_mode: Some("dontAsk".into()),
                tools: Some(vec!["Read".into(), "Bash".into()]),
                settings: json!({"sandbox": {"enabled": true}}),
                model: None,
                session: Some("1234".into()),
                servers: vec!["ours".into()],
            }
        );
        assert!(Arguments::read(&["-v".to_owned()]).version);
        assert_eq!(
            Arguments::read(&["--tools=".to_owned()]).tools,
            Some(vec![])
        );
    }
}
