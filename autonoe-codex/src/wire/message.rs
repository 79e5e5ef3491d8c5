//! One line, as what it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Notice, Question};

/// One message of the program.
///
/// ```
/// use autonoe_codex::wire::{Message, Notice};
///
/// let line = r#"{"method":"turn/grown","params":{"leaves":7}}"#;
///
/// // What nobody knows yet is no error.
/// assert!(matches!(Message::read(line), Some(Message::Notice(Notice::Other { .. }))));
/// assert_eq!(Message::read("no JSON"), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// An answer to a request of the host.
    Answer {
        /// The request.
        id: RequestId,
        /// What came of it.
        result: Result<Value, RpcError>,
    },
    /// A request of the program, which waits for its answer.
    Question {
        /// What the answer must name.
        id: RequestId,
        /// What is asked.
        question: Question,
    },
    /// Something that the program tells.
    Notice(Notice),
    /// An object that is none of these, as it came.
    Other(Value),
}

/// One message, and the conversation that it is about.
///
/// ```
/// use autonoe_codex::wire::Addressed;
///
/// let line = r#"{"method":"turn/grown","params":{"threadId":"t1"}}"#;
/// let message = Addressed::read(line).expect("a message");
///
/// assert_eq!(message.thread.as_deref(), Some("t1"));
/// assert_eq!(message.line, line);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Addressed {
    /// The conversation; `None` if it is about the program, or an answer.
    pub thread: Option<String>,
    /// What it says.
    pub message: Message,
    /// The line that it stands in, with all members that nobody reads.
    pub line: String,
}

impl Addressed {
    /// Reads one line; `None` if it is no JSON object.
    pub fn read(line: &str) -> Option<Self> {
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

/// Names a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// Why a request was refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RpcError {
    /// Its number in the protocol.
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// What else is said of it.
    pub data: Option<Value>,
}

impl Message {
    /// Reads one line; `None` if it is no JSON object.
    pub fn read(line: &str) -> Option<Self> {
        Self::from_value(serde_json::from_str(line).ok()?)
    }

    fn from_value(value: Value) -> Option<Self> {
        let id = RequestId::deserialize(value.get("id").unwrap_or(&Value::Null)).ok();
        let method = value.get("method").and_then(Value::as_str);
        if !value.is_object() {
            return None;
        }
        Some(match (method, id) {
            (Some(method), Some(id)) => Self::Question {
                id,
                question: Question::read(method, &value["params"]),
            },
            (Some(method), None) => Self::Notice(Notice::read(method, &value["params"])),
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
