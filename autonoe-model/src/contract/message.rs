//! [`Message`]: one message of a conversation.

use std::borrow::Cow;

use autonoe_core::tool::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a conversation.
///
/// Serialization is lossless, including data that only the provider understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// Message to the model.
    User {
        /// Text of the message.
        text: String,
    },
    /// Answer of the model.
    Assistant(AssistantMessage),
    /// Results of all calls of the preceding answer.
    Results {
        /// One result for each call.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Creates a message to the model.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// Creates a message of results.
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

/// Answer of a model as a list of parts, in the model's order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// Parts of the answer.
    pub parts: Vec<MessagePart>,
}

impl AssistantMessage {
    /// Creates an answer from its parts.
    pub fn new(parts: impl IntoIterator<Item = MessagePart>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
        }
    }

    /// Creates an answer of text only.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([MessagePart::text(text)])
    }

    /// Returns the text, without thinking and calls.
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls: ID, tool and input.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.parts.iter().filter_map(|part| match &part.kind {
            PartKind::ToolCall { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }
}

/// Part of an answer: its meaning, and its original form for the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessagePart {
    /// Meaning of the part.
    #[serde(flatten)]
    pub kind: PartKind,
    /// Original form of the part, including signatures. Its own provider gets it back unchanged;
    /// others get the meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireItem>,
}

impl MessagePart {
    /// Creates a part with this meaning.
    pub fn new(kind: PartKind) -> Self {
        Self { kind, wire: None }
    }

    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartKind::Text { text: text.into() })
    }

    /// Creates a thinking part.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::new(PartKind::Thinking { text: text.into() })
    }

    /// Creates a tool call.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::new(PartKind::ToolCall {
            id: id.into(),
            name: name.into(),
            input,
        })
    }

    /// Creates a part that only its provider understands.
    pub fn opaque() -> Self {
        Self::new(PartKind::Opaque)
    }

    /// Adds the original form of the part in the protocol `protocol`.
    #[must_use]
    pub fn with_wire(mut self, protocol: impl Into<Cow<'static, str>>, item: Value) -> Self {
        self.wire = Some(WireItem {
            protocol: protocol.into(),
            item,
        });
        self
    }

    /// Returns the original form of the part, if it came over `protocol`.
    pub fn wire_item(&self, protocol: &str) -> Option<&Value> {
        let wire = self.wire.as_ref();
        wire.filter(|wire| wire.protocol == protocol)
            .map(|wire| &wire.item)
    }
}

/// Meaning of a part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartKind {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking; empty where the provider hides it.
    Thinking {
        /// Text of the thinking.
        text: String,
    },
    /// Tool call.
    ToolCall {
        /// Pairs the call with its result.
        id: String,
        /// Name of the tool.
        name: String,
        /// Input of the tool; a text if the model wrote invalid JSON.
        input: Value,
    },
    /// Data that only its provider understands.
    Opaque,
}

/// Original form of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireItem {
    /// Protocol that the part came over.
    pub protocol: Cow<'static, str>,
    /// JSON of the part.
    pub item: Value,
}

/// Result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// ID of the call.
    pub call_id: String,
    /// Name of the called tool.
    pub name: String,
    /// Text for the model.
    pub output: String,
    /// Whether the call failed or was denied.
    pub is_error: bool,
    /// Attached files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolResult {
    /// Creates the result of a successful call.
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

    /// Creates the result of a failed or denied call.
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

    /// Sets the attached files.
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
    fn a_conversation_survives_a_json_round_trip() {
        let signed = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
        let conversation = vec![
            Message::user("Look."),
            AssistantMessage::new([
                MessagePart::thinking("Hm.").with_wire("anthropic-messages", signed),
                MessagePart::text("I look."),
                MessagePart::tool_call("call-1", "Read", json!({"path": "a"})),
                MessagePart::opaque().with_wire("anthropic-messages", json!({"type": "new"})),
            ])
            .into(),
            Message::results([ToolResult::failed(
                "call-1",
                "Read",
                "there is no such file",
            )]),
        ];

        let text = serde_json::to_string(&conversation).expect("it can be written");

        let loaded: Vec<Message> = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(loaded, conversation);
    }

    #[test]
    fn a_part_has_its_original_form_only_for_its_own_protocol() {
        let part = MessagePart::text("x").with_wire("gemini", json!({"text": "x"}));

        assert_eq!(part.wire_item("gemini"), Some(&json!({"text": "x"})));
        assert_eq!(part.wire_item("openai-responses"), None);
    }
}
