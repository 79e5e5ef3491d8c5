//! What a turn is made of.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// A part of a turn: something said, thought or done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// The agent says something.
    Message(MessageItem),
    /// The agent thinks.
    Reasoning(ReasoningItem),
    /// A command.
    Command(CommandItem),
    /// A patch.
    FileChange(FileChangeItem),
    /// A call of a tool of an MCP server.
    McpTool(McpToolItem),
    /// A call of a tool of ours.
    DynamicTool(DynamicToolItem),
    /// Anything else, as it came.
    Other(Value),
}

/// How a command, a patch or a call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ItemStatus {
    /// It is under way.
    InProgress,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was refused.
    Declined,
    /// What this means is not known.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Something that the agent says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MessageItem {
    /// Its id.
    pub id: String,
    /// What it says; empty at its start.
    pub text: String,
}

/// Something that the agent thinks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReasoningItem {
    /// Its id.
    pub id: String,
    /// What it thinks, summed up.
    pub summary: Vec<String>,
    /// What it thinks, word by word, where the model tells.
    pub content: Vec<String>,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandItem {
    /// The id of the call.
    pub id: String,
    /// The command with its shell, as one text.
    pub command: String,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// How it stands.
    pub status: ItemStatus,
    /// What it wrote.
    pub aggregated_output: Option<String>,
    /// How it ended.
    pub exit_code: Option<i64>,
}

/// A patch.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileChangeItem {
    /// The id of the call.
    pub id: String,
    /// What it changes.
    pub changes: Vec<Change>,
    /// How it stands.
    pub status: ItemStatus,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What is done to it.
    pub kind: ChangeKind,
    /// The difference, or the whole of a new file.
    #[serde(default)]
    pub diff: String,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChangeKind {
    /// `add`, `delete` or `update`.
    #[serde(rename = "type")]
    pub name: String,
    /// Where the file goes, if it is moved.
    #[serde(default)]
    pub move_path: Option<PathBuf>,
}

/// A call of a tool of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpToolItem {
    /// The id of the call.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub arguments: Value,
    /// How it stands.
    pub status: ItemStatus,
    /// What came of it.
    pub result: Option<McpResult>,
    /// Why nothing did.
    pub error: Option<McpError>,
}

/// What a tool of an MCP server gave back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpResult {
    /// Its content.
    pub content: Vec<Value>,
}

/// Why a tool of an MCP server gave nothing back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpError {
    /// What went wrong.
    pub message: String,
}

/// A call of a tool of ours.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DynamicToolItem {
    /// The id of the call.
    pub id: String,
    /// The namespace of the tool.
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub arguments: Value,
    /// How it stands.
    pub status: ItemStatus,
    /// What it gave back.
    pub content_items: Option<Vec<ContentItem>>,
    /// Whether it succeeded.
    pub success: Option<bool>,
}

/// A piece of what a tool of ours gave back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ContentItem {
    /// The text, if it is one.
    pub text: Option<String>,
}

impl Item {
    /// Reads an item. One that is not known, or not in a known shape, is kept as it is.
    pub fn read(value: &Value) -> Self {
        fn as_one<T: for<'de> Deserialize<'de>>(value: &Value, make: fn(T) -> Item) -> Item {
            T::deserialize(value).map_or_else(|_| Item::Other(value.clone()), make)
        }
        match value["type"].as_str() {
            Some("agentMessage") => as_one(value, Self::Message),
            Some("reasoning") => as_one(value, Self::Reasoning),
            Some("commandExecution") => as_one(value, Self::Command),
            Some("fileChange") => as_one(value, Self::FileChange),
            Some("mcpToolCall") => as_one(value, Self::McpTool),
            Some("dynamicToolCall") => as_one(value, Self::DynamicTool),
            _ => Self::Other(value.clone()),
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

/// Where a shell that can be trusted to be Bash is.
///
/// Who reads a script must read it as the shell does. Others read it in other ways: what is a
/// harmless word of Bash, such as `$'a\'; touch x; #'`, is a second command for `sh`.
const BASH: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// Returns the script that Bash is given, from a command such as `/bin/bash -lc 'ls -a'`.
///
/// `None` for anything that is not Bash with one script: then the whole text is the command.
///
/// ```
/// use autonoe_codex::wire::script_of;
///
/// assert_eq!(script_of("/bin/bash -lc 'ls -a'").as_deref(), Some("ls -a"));
/// // Another shell may read the same script in another way.
/// assert_eq!(script_of("/bin/sh -c 'ls -a'"), None);
/// ```
pub fn script_of(command: &str) -> Option<String> {
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
    fn the_script_is_what_the_shell_is_given() {
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
            assert_eq!(script_of(command).as_deref(), script, "{command}");
        }
    }

    proptest! {
        #[test]
        fn every_script_comes_back_as_it_was(script in "[^\0]*") {
            let shown = shlex::try_join(["/bin/bash", "-lc", script.as_str()]);

            let shown = shown.expect("there is no NUL");

            prop_assert_eq!(script_of(&shown), Some(script));
        }
    }
}
