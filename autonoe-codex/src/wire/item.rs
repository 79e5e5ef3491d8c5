//! [`Item`]s of a turn, and the shell script of a command.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// A part of a turn: a message, a thought or a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A message of the agent.
    Message(MessageItem),
    /// A thought of the agent.
    Reasoning(ReasoningItem),
    /// A command.
    Command(CommandItem),
    /// A patch.
    FileChange(FileChangeItem),
    /// A call of an MCP server's tool.
    McpTool(McpToolItem),
    /// A call of one of our tools.
    DynamicTool(DynamicToolItem),
    /// Any other item, unchanged.
    Other(Value),
}

/// The status of a command, a patch or a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ItemStatus {
    /// It is running.
    InProgress,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was refused.
    Declined,
    /// An unknown status.
    #[default]
    #[serde(other)]
    Unknown,
}

/// A message of the agent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MessageItem {
    /// The text; empty at its start.
    pub text: String,
}

/// A thought of the agent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReasoningItem {
    /// The summary of the thought.
    pub summary: Vec<String>,
    /// The full text of the thought, if the model reveals it.
    pub content: Vec<String>,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandItem {
    /// The id of the call.
    pub id: String,
    /// The command line including its shell.
    pub command: String,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The status.
    pub status: ItemStatus,
    /// The output.
    pub aggregated_output: Option<String>,
    /// The exit code.
    pub exit_code: Option<i64>,
}

/// A patch.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileChangeItem {
    /// The id of the call.
    pub id: String,
    /// The changed files.
    pub changes: Vec<Change>,
    /// The status.
    pub status: ItemStatus,
}

/// The change of one file by a patch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The diff, or the whole content of a new file.
    #[serde(default)]
    pub diff: String,
}

/// The kind of change of a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChangeKind {
    /// `add`, `delete` or `update`.
    #[serde(rename = "type")]
    pub name: String,
    /// The new path, if the file is moved.
    #[serde(default)]
    pub move_path: Option<PathBuf>,
}

/// A call of an MCP server's tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpToolItem {
    /// The id of the call.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The input.
    pub arguments: Value,
    /// The status.
    pub status: ItemStatus,
    /// The result.
    pub result: Option<McpResult>,
    /// The error, if there is no result.
    pub error: Option<McpError>,
}

/// The result of an MCP server's tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpResult {
    /// Its content.
    pub content: Vec<Value>,
}

/// The error of an MCP server's tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpError {
    /// The error message.
    pub message: String,
}

/// A call of one of our tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DynamicToolItem {
    /// The id of the call.
    pub id: String,
    /// The namespace of the tool.
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// The input.
    pub arguments: Value,
    /// The status.
    pub status: ItemStatus,
    /// The output.
    pub content_items: Option<Vec<ContentItem>>,
    /// Whether it succeeded.
    pub success: Option<bool>,
}

/// A part of the output of one of our tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ContentItem {
    /// The text, if the part is text.
    pub text: Option<String>,
}

impl Item {
    /// Parses an item. An unknown one, or one with an unknown format, is kept unchanged.
    pub fn parse(value: &Value) -> Self {
        fn parse_as<T: for<'de> Deserialize<'de>>(value: &Value, make: fn(T) -> Item) -> Item {
            T::deserialize(value).map_or_else(|_| Item::Other(value.clone()), make)
        }
        match value["type"].as_str() {
            Some("agentMessage") => parse_as(value, Self::Message),
            Some("reasoning") => parse_as(value, Self::Reasoning),
            Some("commandExecution") => parse_as(value, Self::Command),
            Some("fileChange") => parse_as(value, Self::FileChange),
            Some("mcpToolCall") => parse_as(value, Self::McpTool),
            Some("dynamicToolCall") => parse_as(value, Self::DynamicTool),
            _ => Self::Other(value.clone()),
        }
    }

    /// Returns the id of the tool call, if the item is one.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::Command(item) => Some(&item.id),
            Self::FileChange(item) => Some(&item.id),
            Self::McpTool(item) => Some(&item.id),
            Self::DynamicTool(item) => Some(&item.id),
            Self::Message(_) | Self::Reasoning(_) | Self::Other(_) => None,
        }
    }
}

impl McpResult {
    /// Returns the texts of the content, one after the other.
    pub fn text(&self) -> String {
        let texts = self
            .content
            .iter()
            .filter_map(|piece| piece["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Paths of shells that are certain to be Bash.
///
/// The gate must parse a script as the shell does. Other shells parse it differently: a harmless
/// word of Bash, such as `$'a\'; touch x; #'`, is a second command for `sh`.
const BASH: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// Returns the script of a Bash command such as `/bin/bash -lc 'ls -a'`.
///
/// `None` for anything but Bash with one script: then the whole text is the command.
///
/// ```
/// use autonoe_codex::wire::bash_script;
///
/// assert_eq!(bash_script("/bin/bash -lc 'ls -a'").as_deref(), Some("ls -a"));
/// // Another shell may parse the same script differently.
/// assert_eq!(bash_script("/bin/sh -c 'ls -a'"), None);
/// ```
pub fn bash_script(command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    let [shell, flags, script] = words.as_slice() else {
        return None;
    };
    let is_bash = BASH.contains(&shell.as_str()) && ["-c", "-lc"].contains(&flags.as_str());
    is_bash.then(|| script.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_script_is_the_argument_of_the_shell() {
        for (command, script) in [
            ("/bin/bash -lc 'touch a; cat'", Some("touch a; cat")),
            (
                r#"/bin/bash -lc "echo it's \"me\"; exit 3""#,
                Some(r#"echo it's "me"; exit 3"#),
            ),
            ("/usr/bin/bash -c ls", Some("ls")),
            ("/bin/sh -c ls", None),
            ("/usr/bin/zsh -lc ls", None),
            ("bash -lc ls", None),
            ("/srv/project/bash -lc ls", None),
            ("/bin/bash -lc", None),
            ("/bin/bash -lc ls more", None),
            ("/bin/bash -x ls", None),
            ("env bash -lc ls", None),
            ("/bin/bash -lc 'not closed", None),
            ("", None),
        ] {
            assert_eq!(bash_script(command).as_deref(), script, "{command}");
        }
    }

    proptest! {
        #[test]
        fn every_script_is_parsed_back_unchanged(script in "[^\0]*") {
            let joined = shlex::try_join(["/bin/bash", "-lc", script.as_str()]);

            let joined = joined.expect("there is no NUL");

            prop_assert_eq!(bash_script(&joined), Some(script));
        }
    }
}
