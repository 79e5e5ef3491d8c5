//! A conversation, message by message.

use std::borrow::Cow;

use autonoe_core::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a conversation.
///
/// It can be written down and read again without a loss, also what only the provider
/// understands of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What the model is told.
    User {
        /// The words.
        text: String,
    },
    /// What the model answered.
    Assistant(AssistantMessage),
    /// What became of the calls of the answer before it, of all of them.
    Results {
        /// One for each call.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Makes a message to the model.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// Makes a message of results.
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self::Results {
            results: results.into_iter().collect(),
        }
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(message)
    }
}

/// What a model answered, part by part and in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The parts.
    pub parts: Vec<Part>,
}

impl AssistantMessage {
    /// Makes an answer of its parts.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
        }
    }

    /// Makes an answer that only says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([Part::text(text)])
    }

    /// Returns what it says, without thoughts and calls.
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls: id, tool and input.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::ToolCall { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }
}

/// A part of an answer: what it means, and what the provider wants to see again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Part {
    /// What it means.
    #[serde(flatten)]
    pub kind: PartKind,
    /// The part as it came, signatures and all. Its own provider gets it back unchanged; others
    /// get what it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireItem>,
}

impl Part {
    /// Makes a part that means `kind`.
    pub fn new(kind: PartKind) -> Self {
        Self { kind, wire: None }
    }

    /// Makes a part that says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartKind::Text { text: text.into() })
    }

    /// Makes a part that thinks something.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::new(PartKind::Thinking { text: text.into() })
    }

    /// Makes a part that calls a tool.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::new(PartKind::ToolCall {
            id: id.into(),
            name: name.into(),
            input,
        })
    }

    /// Makes a part that only its provider understands.
    pub fn opaque() -> Self {
        Self::new(PartKind::Opaque)
    }

    /// Keeps the part as it came over the wire called `protocol`.
    #[must_use]
    pub fn as_it_came(mut self, protocol: impl Into<Cow<'static, str>>, item: Value) -> Self {
        self.wire = Some(WireItem {
            protocol: protocol.into(),
            item,
        });
        self
    }

    /// Returns the part as it came, if it came over the wire called `protocol`.
    pub fn wire_of(&self, protocol: &str) -> Option<&Value> {
        let wire = self.wire.as_ref();
        wire.filter(|wire| wire.protocol == protocol)
            .map(|wire| &wire.item)
    }
}

/// What a part of an answer means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartKind {
    /// The model says something.
    Text {
        /// What.
        text: String,
    },
    /// The model thinks something; empty where it hides its thoughts.
    Thinking {
        /// What.
        text: String,
    },
    /// The model calls a tool.
    ToolCall {
        /// Pairs the call with its result.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with; a text if the model wrote no JSON.
        input: Value,
    },
    /// Something that only its provider understands.
    Opaque,
}

/// A part as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireItem {
    /// The protocol that it came over.
    pub protocol: Cow<'static, str>,
    /// What came.
    pub item: Value,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The tool that was called.
    pub name: String,
    /// What the model reads.
    pub output: String,
    /// Whether the call failed or was refused.
    pub is_error: bool,
    /// Files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolResult {
    /// Makes the result of a call that succeeded.
    pub fn ok(
        call_id: impl Into<String>,
        name: impl Into<String>,
        output: impl Into<String>,
    ) -> Self {
        Self {
            call_id: call_id.into(),
            name: name.into(),
            output: output.into(),
            is_error: false,
            attachments: Vec::new(),
        }
    }

    /// Makes the result of a call that failed or was refused.
    pub fn failed(
        call_id: impl Into<String>,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            is_error: true,
            ..Self::ok(call_id, name, reason)
        }
    }

    /// Adds files.
    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments = attachments;
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_can_be_written_down_and_read_again() {
        let signed = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
        let conversation = vec![
            Message::user("Look."),
            AssistantMessage::new([
                Part::thinking("Hm.").as_it_came("anthropic-messages", signed),
                Part::text("I look."),
                Part::tool_call("call-1", "Read", json!({"path": "a"})),
                Part::opaque().as_it_came("anthropic-messages", json!({"type": "new"})),
            ])
            .into(),
            Message::results([ToolResult::failed(
                "call-1",
                "Read",
                "there is no such file",
            )]),
        ];

        let text = serde_json::to_string(&conversation).expect("it can be written");

        let again: Vec<Message> = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(again, conversation);
    }

    #[test]
    fn a_part_is_as_it_came_only_for_its_own_protocol() {
        let part = Part::text("x").as_it_came("gemini", json!({"text": "x"}));

        assert_eq!(part.wire_of("gemini"), Some(&json!({"text": "x"})));
        assert_eq!(part.wire_of("openai-responses"), None);
    }
}
