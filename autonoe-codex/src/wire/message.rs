//! [`Message`] of the program, parsed from a line, and its [`ProgramRequest`]s.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Notification;

/// One message of the program.
///
/// ```
/// use autonoe_codex::wire::{Message, Notification};
///
/// let line = r#"{"method":"turn/grown","params":{"leaves":7}}"#;
///
/// // An unknown message is not an error.
/// assert!(matches!(Message::parse(line), Some(Message::Notification(Notification::Other { .. }))));
/// assert_eq!(Message::parse("no JSON"), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// An answer to a request of the host.
    Answer {
        /// The request.
        id: RequestId,
        /// The result, or the message of the error.
        result: Result<Value, String>,
    },
    /// A request of the program, which waits for its answer.
    Request {
        /// The id that the answer must name.
        id: RequestId,
        /// The request.
        question: ProgramRequest,
    },
    /// A notification of the program.
    Notification(Notification),
    /// Any other object, unchanged.
    Other(Value),
}

/// One message, and the conversation that it is about.
///
/// ```
/// use autonoe_codex::wire::ThreadMessage;
///
/// let line = r#"{"method":"turn/grown","params":{"threadId":"t1"}}"#;
/// let message = ThreadMessage::parse(line).expect("a message");
///
/// assert_eq!(message.thread.as_deref(), Some("t1"));
/// assert_eq!(message.line, line);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadMessage {
    /// The conversation; `None` for a message about the program, or an answer.
    pub thread: Option<String>,
    /// The message.
    pub message: Message,
    /// The original line, with all fields.
    pub line: String,
}

impl ThreadMessage {
    /// Parses one line; `None` if it is not a JSON object.
    pub fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let thread = ["threadId", "conversationId"]
            .into_iter()
            .find_map(|name| value["params"][name].as_str());
        Some(Self {
            thread: thread.map(str::to_owned),
            message: Message::from_value(value)?,
            line: line.to_owned(),
        })
    }
}

/// The id of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Message {
    /// Parses one line; `None` if it is not a JSON object.
    pub fn parse(line: &str) -> Option<Self> {
        Self::from_value(serde_json::from_str(line).ok()?)
    }

    fn from_value(value: Value) -> Option<Self> {
        let id = RequestId::deserialize(value.get("id").unwrap_or(&Value::Null)).ok();
        let method = value.get("method").and_then(Value::as_str);
        if !value.is_object() {
            return None;
        }
        Some(match (method, id) {
            (Some(method), Some(id)) => Self::Request {
                id,
                question: ProgramRequest::parse(method, &value["params"]),
            },
            (Some(method), None) => {
                Self::Notification(Notification::parse(method, &value["params"]))
            }
            (None, Some(id)) => match (value.get("result"), value.get("error")) {
                (_, Some(error)) => Self::Answer {
                    id,
                    result: Err(error["message"].as_str().unwrap_or_default().to_owned()),
                },
                (Some(result), None) => Self::Answer {
                    id,
                    result: Ok(result.clone()),
                },
                (None, None) => Self::Other(value),
            },
            (None, None) => Self::Other(value),
        })
    }
}

/// A request of the program. Its turn waits for the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramRequest {
    /// An approval request for a command.
    Command(Box<CommandApproval>),
    /// An approval request for a patch.
    FileChange(FileChangeApproval),
    /// An approval request for a call of an MCP server's tool, or a question to the user.
    Elicitation(ElicitationRequest),
    /// A call of one of our tools.
    Tool(ToolCallRequest),
    /// Any other request, unchanged, including one of the above in an unknown format.
    Other {
        /// The method.
        method: String,
        /// The parameters.
        params: Value,
    },
}

/// An approval request for a command.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandApproval {
    /// The call.
    pub item_id: String,
    /// The turn.
    pub turn_id: String,
    /// The subject of the request: `command`, or `writeStdin`.
    #[serde(default = "command_kind")]
    pub kind: String,
    /// The command line including its shell.
    #[serde(default)]
    pub command: Option<String>,
    /// The working directory.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Additional permissions for the command.
    #[serde(default)]
    pub additional_permissions: Option<Value>,
    /// The network access that it requests.
    #[serde(default)]
    pub network_approval_context: Option<Value>,
    /// The machine to run on, if there are several.
    #[serde(default)]
    pub environment_id: Option<String>,
    /// The id of a request about a part of the command.
    #[serde(default)]
    pub approval_id: Option<String>,
    /// All other fields, unchanged.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl CommandApproval {
    /// Returns whether this requests a command on this machine, and nothing more.
    ///
    /// An unknown field could request anything.
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

/// Fields of a command request that request nothing: they describe the command, or the possible
/// answers.
const COMMAND_MEMBERS: &[&str] = &[
    "availableDecisions",
    "commandActions",
    "proposedExecpolicyAmendment",
    "proposedNetworkPolicyAmendments",
    "reason",
    "startedAtMs",
    "threadId",
];

/// Fields of a patch request that request nothing.
const FILE_CHANGE_MEMBERS: &[&str] = &["reason", "startedAtMs", "threadId"];

fn is_known(rest: &Map<String, Value>, members: &[&str]) -> bool {
    rest.iter()
        .all(|(name, value)| value.is_null() || members.contains(&name.as_str()))
}

fn command_kind() -> String {
    "command".to_owned()
}

/// An approval request for a patch. Its changes are reported at the start of the patch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChangeApproval {
    /// The call.
    pub item_id: String,
    /// The turn.
    pub turn_id: String,
    /// A folder that is to become writable permanently.
    #[serde(default)]
    pub grant_root: Option<PathBuf>,
    /// All other fields, unchanged.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl FileChangeApproval {
    /// Returns whether this requests a patch, and nothing more.
    ///
    /// An unknown field could request anything.
    pub fn is_plain(&self) -> bool {
        self.grant_root.is_none() && is_known(&self.rest, FILE_CHANGE_MEMBERS)
    }
}

/// An approval request for a call of an MCP server's tool, or a question of a server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationRequest {
    /// The server.
    pub server_name: String,
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// Details of the request.
    #[serde(default, rename = "_meta")]
    pub meta: Value,
}

impl ElicitationRequest {
    /// Returns the input of the tool, if this is about a call.
    pub fn tool_arguments(&self) -> Option<&Value> {
        let is_call = self.meta["codex_approval_kind"] == "mcp_tool_call";
        is_call.then(|| &self.meta["tool_params"])
    }
}

/// A call of one of our tools.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRequest {
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
    /// The input.
    #[serde(default)]
    pub arguments: Value,
}

impl ProgramRequest {
    /// Returns the method of the request.
    pub fn method(&self) -> &str {
        match self {
            Self::Command(_) => "item/commandExecution/requestApproval",
            Self::FileChange(_) => "item/fileChange/requestApproval",
            Self::Elicitation(_) => "mcpServer/elicitation/request",
            Self::Tool(_) => "item/tool/call",
            Self::Other { method, .. } => method,
        }
    }

    /// Parses a request. An unknown one, or one with an unknown format, is kept unchanged.
    pub fn parse(method: &str, params: &Value) -> Self {
        let known = match method {
            "item/commandExecution/requestApproval" => CommandApproval::deserialize(params)
                .map(|question| Self::Command(Box::new(question)))
                .ok(),
            "item/fileChange/requestApproval" => FileChangeApproval::deserialize(params)
                .map(Self::FileChange)
                .ok(),
            "mcpServer/elicitation/request" => ElicitationRequest::deserialize(params)
                .map(Self::Elicitation)
                .ok(),
            "item/tool/call" => ToolCallRequest::deserialize(params).map(Self::Tool).ok(),
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
    fn a_command_request_with_other_fields_is_not_plain() {
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

            let question = CommandApproval::deserialize(&question).expect("a question");

            assert_eq!(question.is_plain(), is_plain, "{member} {value}");
        }
    }

    #[test]
    fn a_patch_request_with_other_fields_is_not_plain() {
        for (member, value, is_plain) in [
            ("reason", json!(null), true),
            ("grantRoot", json!("/"), false),
            ("somethingNew", json!(true), false),
        ] {
            let mut question = json!({"itemId": "i", "turnId": "u"});
            question[member] = value.clone();

            let question = FileChangeApproval::deserialize(&question).expect("a question");

            assert_eq!(question.is_plain(), is_plain, "{member} {value}");
        }
    }
}
