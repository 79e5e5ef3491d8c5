//! [`Message`] of the program, parsed from a line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Notification, ProgramRequest};

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
#[non_exhaustive]
pub enum Message {
    /// An answer to a request of the host.
    Answer {
        /// The request.
        id: RequestId,
        /// The result.
        result: Result<Value, RpcError>,
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
#[non_exhaustive]
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

/// The error answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RpcError {
    /// Its code in the protocol.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// Further details.
    pub data: Option<Value>,
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
                    result: Err(RpcError::deserialize(error).unwrap_or_default()),
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
