//! What a tool call would do, from what agents tell of it.

use autonoe_core::ToolKind;
use serde_json::{Value, json};

use crate::wire::CallNews;

/// How an agent tells of its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As the protocol has it, and no more than that.
    #[default]
    Plain,
    /// Gemini CLI: no input and no name, but the id begins with the name (`write_file__..`), and
    /// the title of a command is the command.
    Gemini,
}

/// A call as hooks and observers see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) kind: ToolKind,
}

impl Dialect {
    /// Says what the call of `news` would do. `servers` are the MCP servers of the session.
    ///
    /// The sort of tool counts first: an agent sets it by the tool, and a model that chooses ids
    /// and texts does not. What cannot be told for certain is malformed, which no gate lets pass.
    pub(crate) fn describe(self, news: &CallNews, servers: &[String]) -> Described {
        let named = self.name(news);
        let sort = news.kind.as_deref().unwrap_or("other");
        let kind = match sort {
            "execute" => self.shell(news),
            "edit" | "delete" | "move" => with_paths(news, |paths| ToolKind::Write { paths }),
            "read" | "search" => with_paths(news, |paths| ToolKind::Read { paths }),
            "fetch" => fetch(news),
            _ => self.mcp(news, named, servers),
        };
        let name = match &kind {
            ToolKind::Mcp { server, tool } => format!("mcp__{server}__{tool}"),
            _ => usual_name(sort, named).to_owned(),
        };
        Described {
            input: input(news, &kind),
            name,
            kind,
        }
    }

    /// Tells whether a turn that ends after a tool, without a word, is a broken one.
    ///
    /// Gemini CLI says `end_turn` also when the answer of its model broke off or was blocked. Its
    /// models have the last word otherwise.
    pub(crate) fn always_has_the_last_word(self) -> bool {
        self == Self::Gemini
    }

    fn name(self, news: &CallNews) -> Option<&str> {
        match self {
            Self::Plain => None,
            Self::Gemini => news.id.split_once("__").map(|(name, _)| name),
        }
    }

    fn shell(self, news: &CallNews) -> ToolKind {
        let told = news.input.as_ref().map(|input| &input["command"]);
        let command = match (told, self) {
            (Some(Value::String(command)), _) => Some(command.clone()),
            // Some agents tell the words of a command. What they make of them is their secret.
            (Some(_), _) | (None, Self::Plain) => None,
            (None, Self::Gemini) => news.title.clone(),
        };
        match command {
            Some(command) => ToolKind::Shell { command },
            None => malformed("the agent does not tell the command that it would run"),
        }
    }

    fn mcp(self, news: &CallNews, name: Option<&str>, servers: &[String]) -> ToolKind {
        let (separator, rest) = match (self, name, &news.title) {
            (Self::Gemini, Some(name), _) => ('_', name.strip_prefix("mcp_")),
            (Self::Plain, _, Some(title)) if news.is_mcp => ('.', title.strip_prefix("mcp.")),
            _ => return ToolKind::Other,
        };
        let Some(rest) = rest else {
            return ToolKind::Other;
        };
        let mut meant = servers.iter().filter_map(|server| {
            let tool = rest
                .strip_prefix(server.as_str())?
                .strip_prefix(separator)?;
            (!tool.is_empty()).then(|| ToolKind::Mcp {
                server: server.clone(),
                tool: tool.to_owned(),
            })
        });
        match (meant.next(), meant.next()) {
            (Some(kind), None) => kind,
            (None, _) => ToolKind::Other,
            (Some(_), Some(_)) => malformed("the call can be meant for two MCP servers"),
        }
    }
}

/// Returns the name under which rules and hooks know such a tool, or the agent's own.
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
        (sort, named) => named.unwrap_or(sort),
    }
}

fn with_paths(news: &CallNews, kind: impl FnOnce(Vec<std::path::PathBuf>) -> ToolKind) -> ToolKind {
    match news.paths.is_empty() {
        true => malformed("the agent does not tell which files it would touch"),
        false => kind(news.paths.iter().map(Into::into).collect()),
    }
}

fn fetch(news: &CallNews) -> ToolKind {
    let url = news.input.as_ref().and_then(|input| input["url"].as_str());
    match url {
        Some(url) => ToolKind::Fetch {
            url: url.to_owned(),
        },
        None => malformed("the agent does not tell what it would fetch"),
    }
}

fn malformed(reason: &str) -> ToolKind {
    ToolKind::Malformed {
        reason: reason.to_owned(),
    }
}

/// Returns the input, or what is known in its place.
fn input(news: &CallNews, kind: &ToolKind) -> Value {
    if let Some(input) = &news.input {
        return input.clone();
    }
    match kind {
        ToolKind::Shell { command } => json!({"command": command}),
        ToolKind::Write { paths } | ToolKind::Read { paths } if paths.len() == 1 => {
            json!({"file_path": paths[0]})
        }
        ToolKind::Write { paths } | ToolKind::Read { paths } => json!({"paths": paths}),
        // Gemini CLI shows the input of such a tool as text, when it is short.
        ToolKind::Mcp { .. } => {
            let shown = news
                .texts
                .first()
                .and_then(|text| serde_json::from_str(text).ok());
            let shown = shown.filter(Value::is_object);
            shown.unwrap_or_else(|| json!({}))
        }
        _ => json!({"title": news.title}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(id: &str, kind: &str, title: &str) -> CallNews {
        CallNews {
            id: id.into(),
            kind: Some(kind.into()),
            title: Some(title.into()),
            ..CallNews::default()
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
            // A model that names its calls as it likes changes nothing about the sort of tool.
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
            let described = Dialect::Gemini.describe(&news(id, kind, title), &servers());

            assert_eq!((described.name.as_str(), described.kind), expected, "{id}");
        }
    }

    #[test]
    fn what_cannot_be_told_for_certain_is_malformed() {
        let mut words = news("c", "execute", "rm x");
        words.input = Some(json!({"command": ["rm", "x"]}));
        for (dialect, news) in [
            (Dialect::Gemini, news("mcp_a_b_c__1", "other", "t")),
            (
                Dialect::Gemini,
                news("write_file__1", "edit", "Writing to x"),
            ),
            (
                Dialect::Gemini,
                news("web_fetch__1", "fetch", "get http://x"),
            ),
            (Dialect::Gemini, words.clone()),
            (Dialect::Plain, words),
            (Dialect::Plain, news("c", "execute", "rm x")),
            (Dialect::Plain, news("c", "delete", "x")),
        ] {
            let described = dialect.describe(&news, &servers());

            let is_malformed = matches!(described.kind, ToolKind::Malformed { .. });
            assert!(is_malformed, "{news:?}: {described:?}");
        }
    }

    #[test]
    fn a_plain_agent_is_believed_only_what_it_does_not_put_into_a_title() {
        let mut call = news("c", "other", "mcp.autonoe.create");
        assert_eq!(
            Dialect::Plain.describe(&call, &servers()).kind,
            ToolKind::Other
        );

        call.is_mcp = true;
        let described = Dialect::Plain.describe(&call, &servers());

        assert_eq!(described.name, "mcp__autonoe__create");
    }

    #[test]
    fn an_input_that_is_told_is_handed_on() {
        let mut call = news("c", "execute", "a title");
        call.input = Some(json!({"command": "ls", "timeout": 5}));
        let described = Dialect::Plain.describe(&call, &[]);
        assert_eq!(described.input, json!({"command": "ls", "timeout": 5}));

        let mut call = news("mcp_autonoe_create__1", "other", "create");
        call.texts = vec![r#"{"id": "DL-1"}"#.into()];
        let described = Dialect::Gemini.describe(&call, &servers());
        assert_eq!(described.input, json!({"id": "DL-1"}));
    }
}
