//! What the program asks.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A request of the program. Its turn waits for the answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// May this command run?
    Command(Box<CommandQuestion>),
    /// May this patch be applied?
    FileChange(FileChangeQuestion),
    /// May this tool of an MCP server be called, or: what does a person say?
    Elicitation(ElicitationQuestion),
    /// What does this tool of ours say?
    Tool(ToolQuestion),
    /// Anything else, as it came; also one of the above in a shape that is not known.
    Other {
        /// Its name.
        method: String,
        /// What it says.
        params: Value,
    },
}

/// A command that waits for its approval.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CommandQuestion {
    /// The call.
    pub item_id: String,
    /// The turn.
    pub turn_id: String,
    /// What is to be approved: `command`, or `writeStdin`.
    #[serde(default = "command_kind")]
    pub kind: String,
    /// The command with its shell, as one text.
    #[serde(default)]
    pub command: Option<String>,
    /// Where it is to run.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// More rights than the command would have.
    #[serde(default)]
    pub additional_permissions: Option<Value>,
    /// The network that it wants to reach.
    #[serde(default)]
    pub network_approval_context: Option<Value>,
    /// Where it is to run, if there are several machines.
    #[serde(default)]
    pub environment_id: Option<String>,
    /// Names a question about a part of the command.
    #[serde(default)]
    pub approval_id: Option<String>,
    /// All other members, as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl CommandQuestion {
    /// Tells whether this asks for a command on this machine, and for nothing more.
    ///
    /// A member that is not known could be anything.
    pub fn is_plain(&self) -> bool {
        self.kind == "command"
            && self.additional_permissions.is_none()
            && self.network_approval_context.is_none()
            && self.approval_id.is_none()
            && self
                .environment_id
                .as_deref()
                .is_none_or(|it| it == "local")
            && is_known(&self.rest, COMMAND_MEMBERS)
    }
}

/// Members of a question about a command that ask for nothing: they say more about it, or what
/// could be answered.
const COMMAND_MEMBERS: &[&str] = &[
    "availableDecisions",
    "commandActions",
    "proposedExecpolicyAmendment",
    "proposedNetworkPolicyAmendments",
    "reason",
    "startedAtMs",
    "threadId",
];

/// Members of a question about a patch that ask for nothing.
const FILE_CHANGE_MEMBERS: &[&str] = &["reason", "startedAtMs", "threadId"];

fn is_known(rest: &Map<String, Value>, members: &[&str]) -> bool {
    rest.iter()
        .all(|(name, value)| value.is_null() || members.contains(&name.as_str()))
}

fn command_kind() -> String {
    "command".to_owned()
}

/// A patch that waits for its approval. What it changes is told where it begins.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileChangeQuestion {
    /// The call.
    pub item_id: String,
    /// The turn.
    pub turn_id: String,
    /// A folder that is to be writable from now on.
    #[serde(default)]
    pub grant_root: Option<PathBuf>,
    /// All other members, as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl FileChangeQuestion {
    /// Tells whether this asks for a patch, and for nothing more.
    ///
    /// A member that is not known could be anything.
    pub fn is_plain(&self) -> bool {
        self.grant_root.is_none() && is_known(&self.rest, FILE_CHANGE_MEMBERS)
    }
}

/// A call of a tool of an MCP server that waits for its approval, or a question of a server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationQuestion {
    /// The server.
    pub server_name: String,
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// What it is about.
    #[serde(default, rename = "_meta")]
    pub meta: Value,
}

impl ElicitationQuestion {
    /// Returns what the tool is to be called with, if this is about a call.
    pub fn tool_arguments(&self) -> Option<&Value> {
        let is_call = self.meta["codex_approval_kind"] == "mcp_tool_call";
        is_call.then(|| &self.meta["tool_params"])
    }
}

/// A call of a tool of ours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolQuestion {
    /// The call.
    pub call_id: String,
    /// The turn of the conversation in which the agent calls it.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// The namespace of the tool.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it is called with.
    #[serde(default)]
    pub arguments: Value,
}

impl Question {
    /// Returns the name of the request.
    pub fn method(&self) -> &str {
        match self {
            Self::Command(_) => "item/commandExecution/requestApproval",
            Self::FileChange(_) => "item/fileChange/requestApproval",
            Self::Elicitation(_) => "mcpServer/elicitation/request",
            Self::Tool(_) => "item/tool/call",
            Self::Other { method, .. } => method,
        }
    }

    /// Reads a question. One that is not known, or not in a known shape, is kept as it is.
    pub fn read(method: &str, params: &Value) -> Self {
        let known = match method {
            "item/commandExecution/requestApproval" => CommandQuestion::deserialize(params)
                .map(|question| Self::Command(Box::new(question)))
                .ok(),
            "item/fileChange/requestApproval" => FileChangeQuestion::deserialize(params)
                .map(Self::FileChange)
                .ok(),
            "mcpServer/elicitation/request" => ElicitationQuestion::deserialize(params)
                .map(Self::Elicitation)
                .ok(),
            "item/tool/call" => ToolQuestion::deserialize(params).map(Self::Tool).ok(),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Other {
            method: method.to_owned(),
            params: params.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_about_a_command_asks_for_nothing_more() {
        for (member, value, is_plain) in [
            ("reason", json!("please"), true),
            ("environmentId", json!("local"), true),
            ("proposedExecpolicyAmendment", json!(["ls"]), true),
            ("somethingNew", json!(null), true),
            ("kind", json!("writeStdin"), false),
            ("environmentId", json!("another machine"), false),
            ("approvalId", json!("part"), false),
            ("additionalPermissions", json!({"network": {}}), false),
            ("networkApprovalContext", json!({"host": "x"}), false),
            ("somethingNew", json!(true), false),
        ] {
            let mut question = json!({"itemId": "i", "turnId": "u", "command": "ls"});
            question[member] = value.clone();

            let question = CommandQuestion::deserialize(&question).expect("a question");

            assert_eq!(question.is_plain(), is_plain, "{member} {value}");
        }
    }

    #[test]
    fn a_question_about_a_patch_asks_for_nothing_more() {
        for (member, value, is_plain) in [
            ("reason", json!(null), true),
            ("grantRoot", json!("/"), false),
            ("somethingNew", json!(true), false),
        ] {
            let mut question = json!({"itemId": "i", "turnId": "u"});
            question[member] = value.clone();

            let question = FileChangeQuestion::deserialize(&question).expect("a question");

            assert_eq!(question.is_plain(), is_plain, "{member} {value}");
        }
    }
}
