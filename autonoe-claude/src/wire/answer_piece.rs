//! A piece of an answer of the model, as it comes.

use std::borrow::Cow;

use autonoe_core::TokenUsage;
use serde::Deserialize;

use super::TurnUsage;
use super::lenient::{field, shape_of_object};

/// A piece of an answer of the model, as it comes.
///
/// The whole answer follows in lines of the agent ([`Assistant`](super::Assistant)).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnswerPiece<'a> {
    /// The call of the tool that started the sub-agent; `None` for the main agent.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// What it is.
    pub kind: PieceKind<'a>,
}

/// What a piece of an answer is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PieceKind<'a> {
    /// The answer starts.
    Started {
        /// The model.
        model: Option<Cow<'a, str>>,
        /// The answer.
        id: Option<Cow<'a, str>>,
    },
    /// It says something.
    Text(Cow<'a, str>),
    /// It thinks something.
    Thinking(Cow<'a, str>),
    /// It begins a call of a tool.
    ToolUse,
    /// Why the answer ends, and what it has used.
    Stopped {
        /// The tokens of the whole answer.
        tokens: TokenUsage,
        /// Why, for example `tool_use`.
        reason: Option<Cow<'a, str>>,
    },
    /// The answer ends.
    Ended,
    /// Something else.
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLine<'a> {
    #[serde(borrow, deserialize_with = "field")]
    event: Option<RawEvent<'a>>,
    #[serde(borrow, deserialize_with = "field")]
    parent_tool_use_id: Option<Cow<'a, str>>,
}

/// All fields of all events: their type may come after them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawEvent<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "field")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    message: Option<RawMessage<'a>>,
    #[serde(borrow, deserialize_with = "field")]
    content_block: Option<RawBlock<'a>>,
    #[serde(borrow, deserialize_with = "field")]
    delta: Option<RawBlock<'a>>,
    #[serde(deserialize_with = "field")]
    usage: Option<TurnUsage>,
}

shape_of_object!(RawEvent<'de>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMessage<'a> {
    #[serde(borrow, deserialize_with = "field")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    id: Option<Cow<'a, str>>,
}

shape_of_object!(RawMessage<'de>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawBlock<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "field")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    stop_reason: Option<Cow<'a, str>>,
}

shape_of_object!(RawBlock<'de>);

impl<'de> Deserialize<'de> for AnswerPiece<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = RawLine::deserialize(deserializer)?;
        Ok(Self {
            parent_tool_use_id: line.parent_tool_use_id,
            kind: line.event.map_or(PieceKind::Other, PieceKind::from),
        })
    }
}

impl<'a> From<RawEvent<'a>> for PieceKind<'a> {
    fn from(event: RawEvent<'a>) -> Self {
        let block = event.content_block.and_then(|block| block.kind);
        let delta = event.delta.unwrap_or_default();
        match (event.kind.as_deref(), delta.kind.as_deref()) {
            (Some("message_start"), _) => {
                let RawMessage { model, id } = event.message.unwrap_or_default();
                Self::Started { model, id }
            }
            (Some("content_block_start"), _) if block.as_deref() == Some("tool_use") => {
                Self::ToolUse
            }
            (Some("content_block_delta"), Some("text_delta")) => {
                Self::Text(delta.text.unwrap_or_default())
            }
            (Some("content_block_delta"), Some("thinking_delta")) => {
                Self::Thinking(delta.thinking.unwrap_or_default())
            }
            (Some("message_delta"), _) => Self::Stopped {
                tokens: event.usage.unwrap_or_default().0,
                reason: delta.stop_reason,
            },
            (Some("message_stop"), _) => Self::Ended,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Line, Message};

    fn check(event: &str, expected: &PieceKind<'_>) {
        let text = format!(r#"{{"type":"stream_event","event":{event}}}"#);
        let line = Line::from_text(text).expect("a line");
        let Message::Answer(piece) = line.read() else {
            panic!("{line:?}");
        };
        assert_eq!(piece.kind, *expected, "{event}");
    }

    #[test]
    fn a_piece_of_another_shape_is_something_else() {
        for event in [
            "null",
            "[]",
            "{}",
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","delta":{"type":"input_json_delta"}}"#,
            r#"{"type":7,"delta":"x"}"#,
        ] {
            check(event, &PieceKind::Other);
        }
    }

    #[test]
    fn each_kind_of_piece_is_read() {
        for (event, expected) in [
            (
                r#"{"type":"message_start","message":{"model":"m","id":7}}"#,
                PieceKind::Started {
                    model: Some("m".into()),
                    id: None,
                },
            ),
            (
                r#"{"delta":{"text":"a","type":"text_delta"},"type":"content_block_delta"}"#,
                PieceKind::Text("a".into()),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"tool_use"}}"#,
                PieceKind::ToolUse,
            ),
            (
                r#"{"type":"message_delta","usage":7,"delta":{"stop_reason":"end_turn"}}"#,
                PieceKind::Stopped {
                    tokens: TokenUsage::default(),
                    reason: Some("end_turn".into()),
                },
            ),
            (r#"{"type":"message_stop"}"#, PieceKind::Ended),
        ] {
            check(event, &expected);
        }
    }
}
