//! What a tool call would do, from what agents tell of it.

use std::path::Path;

use autonoe_core::ToolKind;
use serde_json::{Value, json};

use super::gemini;
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

impl Described {
    /// Says of a command that an agent would run in another folder than `project` that it would,
    /// so that whoever judges it knows.
    pub(crate) fn seen_from(mut self, project: &Path) -> Self {
        let folders = ["cwd", "workdir", "dir_path", "directory"];
        let told = folders.iter().filter_map(|name| self.input[name].as_str());
        let elsewhere: Vec<_> = told
            .filter(|folder| project.join(folder) != project)
            .map(str::to_owned)
            .collect();
        if let ToolKind::Shell { command } = &mut self.kind {
            for folder in elsewhere {
                *command = format!("cd {} && {command}", quoted(&folder));
            }
        }
        self
    }

    /// Makes it a call that is over, which no gate lets pass.
    pub(crate) fn of_the_past(self) -> Self {
        Self {
            kind: malformed("the agent asks about a call that is over"),
            ..self
        }
    }
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
            "move" if news.paths.len() < 2 => {
                malformed("the agent does not tell from where to where it would move a file")
            }
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
    /// Gemini CLI says `end_turn` also when the answer of its model is incomplete or was blocked.
    /// Its models have the last word otherwise.
    pub(crate) fn always_has_the_last_word(self) -> bool {
        self == Self::Gemini
    }

    /// Tells whether a turn that ends with `answer` ended before a model came to its end.
    ///
    /// Gemini CLI counts the tokens of answers that came to their end, and says `end_turn` also
    /// when there is none.
    pub(crate) fn says_no_model_answered(self, answer: &Value) -> bool {
        let counts = &answer["_meta"]["quota"]["token_count"];
        self == Self::Gemini && counts["input_tokens"] == 0 && counts["output_tokens"] == 0
    }

    /// Returns the name of the tool, if it can be told for certain.
    fn name(self, news: &CallNews) -> Option<&str> {
        match self {
            Self::Plain => None,
            Self::Gemini => gemini::tool_name(&news.id),
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
        let folder = match self {
            Self::Plain => Ok(None),
            Self::Gemini => gemini::folder_of(news),
        };
        match (command, folder) {
            (Some(command), Ok(None)) => ToolKind::Shell { command },
            // Said so that whoever judges the command knows where it runs.
            (Some(command), Ok(Some(folder))) => ToolKind::Shell {
                command: format!("cd {} && {command}", quoted(folder)),
            },
            (Some(_), Err(reason)) => malformed(reason),
            (None, _) => malformed("the agent does not tell the command that it would run"),
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
        (sort @ ("think" | "switch_mode"), None) => sort,
        // A name that means another sort of tool would be taken for one.
        (_, Some(name)) if is_unusual(name) => name,
        _ => "other",
    }
}

fn is_unusual(name: &str) -> bool {
    ToolKind::from_name(name, &Value::Null) == ToolKind::Other
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
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
        ToolKind::Malformed { .. } if news.paths.len() == 1 => json!({"file_path": news.paths[0]}),
        ToolKind::Write { paths } | ToolKind::Read { paths } if paths.len() == 1 => {
            json!({"file_path": paths[0]})
        }
        ToolKind::Write { paths } | ToolKind::Read { paths } => json!({"paths": paths}),
        // Gemini CLI shows the input of such a tool as text, when it is short.
        ToolKind::Mcp { .. } => {
            let mut shown = news.texts.iter().flatten();
            let shown = shown
                .next()
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
        call.texts = Some(vec![r#"{"id": "DL-1"}"#.into()]);
        let described = Dialect::Gemini.describe(&call, &servers());
        assert_eq!(described.input, json!({"id": "DL-1"}));
    }

    #[test]
    fn a_command_is_judged_where_it_runs() {
        let shell = |shown: &str| {
            let mut call = news("run_shell_command__1", "execute", "rm x");
            call.texts = Some(vec![shown.to_owned()]);
            Dialect::Gemini.describe(&call, &[]).kind
        };
        let runs = |command: &str| ToolKind::Shell {
            command: command.to_owned(),
        };
        for (shown, command) in [
            ("[current working directory /srv/project]", "rm x"),
            (
                "[current working directory /srv/project] (see [in a])",
                "rm x",
            ),
            ("[in .autonoe]", "cd '.autonoe' && rm x"),
            ("[in a b] (takes it away) [background]", "cd 'a b' && rm x"),
            ("[in it's] [background]", r"cd 'it'\''s' && rm x"),
        ] {
            assert_eq!(shell(shown), runs(command), "{shown}");
        }
        for shown in ["[in a] (b] (c)", "[in a", "[in a](b)"] {
            let kind = shell(shown);
            assert!(matches!(kind, ToolKind::Malformed { .. }), "{shown}");
        }
    }

    #[test]
    fn a_folder_that_an_input_tells_counts() {
        for (folder, command) in [
            ("/srv/project", "rm x"),
            (
                "/srv/project/.autonoe",
                "cd '/srv/project/.autonoe' && rm x",
            ),
            ("sub", "cd 'sub' && rm x"),
        ] {
            let mut call = news("c", "execute", "rm");
            call.input = Some(json!({"command": "rm x", "cwd": folder}));

            let described = Dialect::Plain.describe(&call, &[]);
            let kind = described.seen_from(Path::new("/srv/project")).kind;

            let command = command.to_owned();
            assert_eq!(kind, ToolKind::Shell { command }, "{folder}");
        }
    }

    #[test]
    fn a_sort_of_its_own_is_not_taken_for_a_tool_that_is_known() {
        for sort in ["Bash", "Write", "mcp__autonoe__create", "tomorrow"] {
            let described = Dialect::Plain.describe(&news("c", sort, "rm -r /"), &servers());

            assert_eq!(
                (described.name.as_str(), described.kind),
                ("other", ToolKind::Other)
            );
        }
        let described = Dialect::Gemini.describe(&news("Bash__1", "other", "t"), &[]);
        assert_eq!(described.name, "other");
    }
}
