//! [`AnswerChunk`], a streamed chunk of a model answer.

use std::borrow::Cow;

use serde::Deserialize;

use super::ReportedUsage;
use super::lenient::{field, lenient_object};

/// A streamed chunk of a model answer.
///
/// The whole answer follows in [`Assistant`](super::Assistant) lines.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerChunk<'a> {
    /// The tool call that started the sub-agent; `None` for the main agent.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// The kind of chunk.
    pub kind: ChunkKind<'a>,
}

/// The kind of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkKind<'a> {
    /// The start of the answer.
    Started {
        /// The model.
        model: Option<Cow<'a, str>>,
        /// The id of the answer.
        id: Option<Cow<'a, str>>,
        /// The usage so far, usually that of the input.
        usage: ReportedUsage,
    },
    /// Text.
    Text(Cow<'a, str>),
    /// A thought.
    Thinking(Cow<'a, str>),
    /// The start of a tool call.
    ToolUse,
    /// The stop reason of the answer, and its usage.
    Stopped {
        /// The usage of the whole answer. Counts that it does not have are those of the start.
        usage: ReportedUsage,
        /// The stop reason, for example `tool_use`.
        reason: Option<Cow<'a, str>>,
    },
    /// The end of the answer.
    Ended,
    /// Any other chunk.
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

/// All fields of all events, because their type may follow them.
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
    usage: Option<ReportedUsage>,
}

lenient_object!(RawEvent<'de>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMessage<'a> {
    #[serde(borrow, deserialize_with = "field")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    id: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "field")]
    usage: Option<ReportedUsage>,
}

lenient_object!(RawMessage<'de>);

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

lenient_object!(RawBlock<'de>);

impl<'de> Deserialize<'de> for AnswerChunk<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = RawLine::deserialize(deserializer)?;
        Ok(Self {
            parent_tool_use_id: line.parent_tool_use_id,
            kind: line.event.map_or(ChunkKind::Other, ChunkKind::from),
        })
    }
}

impl<'a> From<RawEvent<'a>> for ChunkKind<'a> {
    fn from(event: RawEvent<'a>) -> Self {
        let block = event.content_block.and_then(|block| block.kind);
        let delta = event.delta.unwrap_or_default();
        match (event.kind.as_deref(), delta.kind.as_deref()) {
            (Some("message_start"), _) => {
                let RawMessage { model, id, usage } = event.message.unwrap_or_default();
                let usage = usage.unwrap_or_default();
                Self::Started { model, id, usage }
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
                usage: event.usage.unwrap_or_default(),
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

    fn check(event: &str, expected: &ChunkKind<'_>) {
        let text = format!(r#"{{"type":"stream_event","event":{event}}}"#);
        let line = Line::from_text(text).expect("a line");
        let Message::Answer(chunk) = line.parse() else {
            panic!("{line:?}");
        };
        assert_eq!(chunk.kind, *expected, "{event}");
    }

    #[test]
    fn a_chunk_of_another_format_is_other() {
        for event in [
            "null",
            "[]",
            "{}",
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","delta":{"type":"input_json_delta"}}"#,
            r#"{"type":7,"delta":"x"}"#,
        ] {
            check(event, &ChunkKind::Other);
        }
    }

    #[test]
    fn each_kind_of_chunk_is_parsed() {
        for (event, expected) in [
            (
                r#"{"type":"message_start","message":{"model":"m","id":7}}"#,
                ChunkKind::Started {
                    model: Some("m".into()),
                    id: None,
                    usage: ReportedUsage::default(),
                },
            ),
            (
                r#"{"delta":{"text":"a","type":"text_delta"},"type":"content_block_delta"}"#,
                ChunkKind::Text("a".into()),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"tool_use"}}"#,
                ChunkKind::ToolUse,
            ),
            (
                r#"{"type":"message_delta","usage":7,"delta":{"stop_reason":"end_turn"}}"#,
                ChunkKind::Stopped {
                    usage: ReportedUsage::default(),
                    reason: Some("end_turn".into()),
                },
            ),
            (r#"{"type":"message_stop"}"#, ChunkKind::Ended),
        ] {
            check(event, &expected);
        }
    }
}
