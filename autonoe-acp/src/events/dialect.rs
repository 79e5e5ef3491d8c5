//! [`Dialect`] of an agent: derives the effect of a tool call from the agent's messages.

use std::path::Path;

use autonoe_core::ToolKind;
use serde_json::{Value, json};

use super::gemini;
use crate::wire::CallUpdate;

/// The way in which an agent describes its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Exactly as in the protocol.
    #[default]
    Plain,
    /// Gemini CLI: no input and no name, but the id begins with the name (`write_file__..`), and
    /// the title of a command is the command.
    Gemini,
}

/// A call in the form that hooks and observers receive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DescribedCall {
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) kind: ToolKind,
}

impl DescribedCall {
    /// Prefixes a command that the agent would run outside of `project` with a `cd`, so that the
    /// gate sees where it runs.
    pub(crate) fn with_directory(mut self, project: &Path) -> Self {
        let folders = ["cwd", "workdir", "dir_path", "directory"];
        let requested = folders.iter().filter_map(|name| self.input[name].as_str());
        let directories: Vec<_> = requested
            .filter(|folder| project.join(folder) != project)
            .map(str::to_owned)
            .collect();
        if let ToolKind::Shell { command } = &mut self.kind {
            for folder in directories {
                *command = format!("cd {} && {command}", shell_quote(&folder));
            }
        }
        self
    }

    /// Turns it into a finished call, which the gate always denies.
    pub(crate) fn into_finished(self) -> Self {
        Self {
            kind: malformed("the agent requests permission for a call that has already ended"),
            ..self
        }
    }
}

impl Dialect {
    /// Derives the effect of the call in `call_update`. `servers` are the MCP servers of the session.
    ///
    /// The kind of tool counts first: the agent sets it by the tool, and not by ids and texts that
    /// its model chooses. If the effect is uncertain, the call is malformed, which the gate always
    /// denies.
    pub(crate) fn describe(self, call_update: &CallUpdate, servers: &[String]) -> DescribedCall {
        let named = self.name(call_update);
        let sort = call_update.kind.as_deref().unwrap_or("other");
        let kind = match sort {
            "execute" => self.shell(call_update),
            "move" if call_update.paths.len() < 2 => {
                malformed("the request does not name the source and the target of the move")
            }
            "edit" | "delete" | "move" => {
                with_paths(call_update, |paths| ToolKind::Write { paths })
            }
            "read" | "search" => with_paths(call_update, |paths| ToolKind::Read { paths }),
            "fetch" => fetch(call_update),
            _ => self.mcp(call_update, named, servers),
        };
        let name = match &kind {
            ToolKind::Mcp { server, tool } => format!("mcp__{server}__{tool}"),
            _ => usual_name(sort, named).to_owned(),
        };
        DescribedCall {
            input: input(call_update, &kind),
            name,
            kind,
        }
    }

    /// Returns whether a turn is incomplete if it ends after a tool call, without any text.
    ///
    /// Gemini CLI reports `end_turn` even if the answer of its model is incomplete or was blocked.
    /// Otherwise its models always end with text.
    pub(crate) fn always_ends_with_text(self) -> bool {
        self == Self::Gemini
    }

    /// Returns whether the turn that ends with `answer` has no complete answer of a model.
    ///
    /// Gemini CLI counts the tokens of complete answers, and reports `end_turn` even if there is
    /// none.
    pub(crate) fn lacks_model_answer(self, answer: &Value) -> bool {
        let counts = &answer["_meta"]["quota"]["token_count"];
        self == Self::Gemini && counts["input_tokens"] == 0 && counts["output_tokens"] == 0
    }

    /// Returns the name of the tool, if it is certain.
    fn name(self, call_update: &CallUpdate) -> Option<&str> {
        match self {
            Self::Plain => None,
            Self::Gemini => gemini::tool_name(&call_update.id),
        }
    }

    fn shell(self, call_update: &CallUpdate) -> ToolKind {
        let command_input = call_update.input.as_ref().map(|input| &input["command"]);
        let command = match (command_input, self) {
            (Some(Value::String(command)), _) => Some(command.clone()),
            // Some agents send the command as a list of words. Their quoting is unknown.
            (Some(_), _) | (None, Self::Plain) => None,
            (None, Self::Gemini) => call_update.title.clone(),
        };
        let folder = match self {
            Self::Plain => Ok(None),
            Self::Gemini => gemini::working_directory(call_update),
        };
        match (command, folder) {
            (Some(command), Ok(None)) => ToolKind::Shell { command },
            // The gate must see where the command runs.
            (Some(command), Ok(Some(folder))) => ToolKind::Shell {
                command: format!("cd {} && {command}", shell_quote(folder)),
            },
            (Some(_), Err(reason)) => malformed(reason),
            (None, _) => malformed("the request does not contain the command"),
        }
    }

    fn mcp(self, call_update: &CallUpdate, name: Option<&str>, servers: &[String]) -> ToolKind {
        let (separator, rest) = match (self, name, &call_update.title) {
            (Self::Gemini, Some(name), _) => ('_', name.strip_prefix("mcp_")),
            (Self::Plain, _, Some(title)) if call_update.is_mcp => {
                ('.', title.strip_prefix("mcp."))
            }
            _ => return ToolKind::Other,
        };
        let Some(rest) = rest else {
            return ToolKind::Other;
        };
        let mut matches = servers.iter().filter_map(|server| {
            let tool = rest
                .strip_prefix(server.as_str())?
                .strip_prefix(separator)?;
            (!tool.is_empty()).then(|| ToolKind::Mcp {
                server: server.clone(),
                tool: tool.to_owned(),
            })
        });
        match (matches.next(), matches.next()) {
            (Some(kind), None) => kind,
            (None, _) => ToolKind::Other,
            (Some(_), Some(_)) => malformed("the name of the tool matches two MCP servers"),
        }
    }
}

/// Returns the name of such a tool in rules and hooks, or the agent's own.
fn usual_name<'a>(sort: &'a str, named: Option<&'a str>) -> &'a str {
    match (sort, named) {
        ("execute", _) => "Bash",
        ("edit", Some("replace")) => "Edit",
        ("edit" | "delete" | "move", _) => "Write",
        ("read", _) => "Read",
        ("search", Some("list_directory")) => "LS",
        ("search", Some("glob")) => "Glob",
        ("search", _) => "Grep",
        ("fetch", _) => "WebFetch",
        (sort @ ("think" | "switch_mode"), None) => sort,
        // A name of another kind of tool would be mistaken for that tool.
        (_, Some(name)) if is_unusual(name) => name,
        _ => "other",
    }
}

fn is_unusual(name: &str) -> bool {
    ToolKind::from_name(name, &Value::Null) == ToolKind::Other
}

/// Quotes a word for the shell.
fn shell_quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn with_paths(
    call_update: &CallUpdate,
    kind: impl FnOnce(Vec<std::path::PathBuf>) -> ToolKind,
) -> ToolKind {
    if call_update.paths.is_empty() {
        malformed("the request does not name the files")
    } else {
        kind(call_update.paths.iter().map(Into::into).collect())
    }
}

fn fetch(call_update: &CallUpdate) -> ToolKind {
    let url = call_update
        .input
        .as_ref()
        .and_then(|input| input["url"].as_str());
    match url {
        Some(url) => ToolKind::Fetch {
            url: url.to_owned(),
        },
        None => malformed("the request does not contain the URL"),
    }
}

fn malformed(reason: &str) -> ToolKind {
    ToolKind::Malformed {
        reason: reason.to_owned(),
    }
}

/// Returns the input, or a replacement from other fields.
fn input(call_update: &CallUpdate, kind: &ToolKind) -> Value {
    if let Some(input) = &call_update.input {
        return input.clone();
    }
    match kind {
        ToolKind::Shell { command } => json!({"command": command}),
        ToolKind::Malformed { .. } if call_update.paths.len() == 1 => {
            json!({"file_path": call_update.paths[0]})
        }
        ToolKind::Write { paths } | ToolKind::Read { paths } if paths.len() == 1 => {
            json!({"file_path": paths[0]})
        }
        ToolKind::Write { paths } | ToolKind::Read { paths } => json!({"paths": paths}),
        // Gemini CLI shows the input of such a tool as text, when it is short.
        ToolKind::Mcp { .. } => {
            let first_text = call_update.texts.iter().flatten().next();
            first_text
                .and_then(|text| serde_json::from_str(text).ok())
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({}))
        }
        _ => json!({"title": call_update.title}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_update(id: &str, kind: &str, title: &str) -> CallUpdate {
        CallUpdate {
            id: id.into(),
            kind: Some(kind.into()),
            title: Some(title.into()),
            ..CallUpdate::default()
        }
    }

    fn servers() -> Vec<String> {
        ["autonoe", "a", "a_b"].map(str::to_owned).into()
    }

    #[test]
    fn calls_of_gemini_cli_are_understood() {
        let shell = |command: &str| ToolKind::Shell {
            command: command.into(),
        };
        let mcp = |server: &str, tool: &str| ToolKind::Mcp {
            server: server.into(),
            tool: tool.into(),
        };
        for (id, kind, title, expected) in [
            (
                "run_shell_command__1",
                "execute",
                "rm -f x",
                ("Bash", shell("rm -f x")),
            ),
            // Call ids that the model chooses do not change the kind of tool.
            (
                "mcp_autonoe_create__1",
                "execute",
                "rm x",
                ("Bash", shell("rm x")),
            ),
            (
                "mcp_autonoe_set_status__1",
                "other",
                "t",
                ("mcp__autonoe__set_status", mcp("autonoe", "set_status")),
            ),
            (
                "mcp_elsewhere_x__1",
                "other",
                "t",
                ("mcp_elsewhere_x", ToolKind::Other),
            ),
            (
                "mcp_autonoe___1",
                "other",
                "t",
                ("mcp_autonoe", ToolKind::Other),
            ),
            (
                "update_topic__1",
                "other",
                "t",
                ("update_topic", ToolKind::Other),
            ),
            (
                "invoke_agent__1",
                "think",
                "t",
                ("invoke_agent", ToolKind::Other),
            ),
            ("no-name", "other", "t", ("other", ToolKind::Other)),
        ] {
            let described = Dialect::Gemini.describe(&call_update(id, kind, title), &servers());

            assert_eq!((described.name.as_str(), described.kind), expected, "{id}");
        }
    }

    #[test]
    fn uncertain_calls_are_malformed() {
        let mut words = call_update("c", "execute", "rm x");
        words.input = Some(json!({"command": ["rm", "x"]}));
        for (dialect, call_update) in [
            (Dialect::Gemini, call_update("mcp_a_b_c__1", "other", "t")),
            (
                Dialect::Gemini,
                call_update("write_file__1", "edit", "Writing to x"),
            ),
            (
                Dialect::Gemini,
                call_update("web_fetch__1", "fetch", "get http://x"),
            ),
            (Dialect::Gemini, words.clone()),
            (Dialect::Plain, words),
            (Dialect::Plain, call_update("c", "execute", "rm x")),
            (Dialect::Plain, call_update("c", "delete", "x")),
        ] {
            let described = dialect.describe(&call_update, &servers());

            let is_malformed = matches!(described.kind, ToolKind::Malformed { .. });
            assert!(is_malformed, "{call_update:?}: {described:?}");
        }
    }

    #[test]
    fn titles_of_a_plain_agent_are_not_trusted() {
        let mut call = call_update("c", "other", "mcp.autonoe.create");
        assert_eq!(
            Dialect::Plain.describe(&call, &servers()).kind,
            ToolKind::Other
        );

        call.is_mcp = true;
        let described = Dialect::Plain.describe(&call, &servers());

        assert_eq!(described.name, "mcp__autonoe__create");
    }

    #[test]
    fn a_reported_input_is_passed_on() {
        let mut call = call_update("c", "execute", "a title");
        call.input = Some(json!({"command": "ls", "timeout": 5}));
        let described = Dialect::Plain.describe(&call, &[]);
        assert_eq!(described.input, json!({"command": "ls", "timeout": 5}));

        let mut call = call_update("mcp_autonoe_create__1", "other", "create");
        call.texts = Some(vec![r#"{"id": "DL-1"}"#.into()]);
        let described = Dialect::Gemini.describe(&call, &servers());
        assert_eq!(described.input, json!({"id": "DL-1"}));
    }

    #[test]
    fn a_command_is_prefixed_with_its_directory() {
        let shell = |title: &str| {
            let mut call = call_update("run_shell_command__1", "execute", "rm x");
            call.texts = Some(vec![title.to_owned()]);
            Dialect::Gemini.describe(&call, &[]).kind
        };
        let runs = |command: &str| ToolKind::Shell {
            command: command.to_owned(),
        };
        for (title, command) in [
            ("[current working directory /srv/project]", "rm x"),
            (
                "[current working directory /srv/project] (see [in a])",
                "rm x",
            ),
            ("[in .autonoe]", "cd '.autonoe' && rm x"),
            ("[in a b] (takes it away) [background]", "cd 'a b' && rm x"),
            ("[in it's] [background]", r"cd 'it'\''s' && rm x"),
        ] {
            assert_eq!(shell(title), runs(command), "{title}");
        }
        for title in ["[in a] (b] (c)", "[in a", "[in a](b)"] {
            let kind = shell(title);
            assert!(matches!(kind, ToolKind::Malformed { .. }), "{title}");
        }
    }

    #[test]
    fn a_folder_in_the_input_is_respected() {
        for (folder, command) in [
            ("/srv/project", "rm x"),
            (
                "/srv/project/.autonoe",
                "cd '/srv/project/.autonoe' && rm x",
            ),
            ("sub", "cd 'sub' && rm x"),
        ] {
            let mut call = call_update("c", "execute", "rm");
            call.input = Some(json!({"command": "rm x", "cwd": folder}));

            let described = Dialect::Plain.describe(&call, &[]);
            let kind = described.with_directory(Path::new("/srv/project")).kind;

            let command = command.to_owned();
            assert_eq!(kind, ToolKind::Shell { command }, "{folder}");
        }
    }

    #[test]
    fn an_unknown_kind_maps_to_no_known_tool() {
        for sort in ["Bash", "Write", "mcp__autonoe__create", "tomorrow"] {
            let described = Dialect::Plain.describe(&call_update("c", sort, "rm -r /"), &servers());

            assert_eq!(
                (described.name.as_str(), described.kind),
                ("other", ToolKind::Other)
            );
        }
        let described = Dialect::Gemini.describe(&call_update("Bash__1", "other", "t"), &[]);
        assert_eq!(described.name, "other");
    }
}
