//! [`Assistant`] messages: text, thoughts and tool calls of the agent.

use std::borrow::Cow;

use serde::Deserialize;

use super::Json;
use super::lenient::{LenientValue, field, lenient_object, list, object};

/// Text, a thought or a tool call of the agent: one content block per line.
///
/// The lines of one model answer share its id. The token usage is not included: the counts in such
/// a line are from the start of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assistant<'a> {
    /// The id of the model answer that the line belongs to.
    pub message_id: Option<Cow<'a, str>>,
    /// The model, or [`SYNTHETIC`](Self::SYNTHETIC).
    pub model: Option<Cow<'a, str>>,
    /// The content blocks; a single one in all recordings.
    pub blocks: Vec<Block<'a>>,
    /// The tool call that started the sub-agent; `None` for the main agent.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// The kind of the sub-agent, for example `general-purpose`.
    pub subagent_type: Option<Cow<'a, str>>,
    /// The conversation.
    pub session_id: Option<Cow<'a, str>>,
    /// The failure, if the message reports one, for example `rate_limit`.
    pub error: Option<Cow<'a, str>>,
}

impl Assistant<'_> {
    /// The model name in messages of the program itself.
    pub const SYNTHETIC: &'static str = "<synthetic>";

    /// Returns whether this is a message of the program, not of the agent.
    pub fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(Self::SYNTHETIC)
    }
}

/// A content block of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// A thought.
    Thinking(Cow<'a, str>),
    /// A tool call.
    ToolUse(ToolUse<'a>),
    /// Any other block, with its type.
    Other(Option<Cow<'a, str>>),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse<'a> {
    /// The id of the call, which its result names.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// The input.
    pub input: Option<Json<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLine<'a> {
    #[serde(borrow, deserialize_with = "field")]
    message: Option<RawMessage<'a>>,
    #[serde(borrow, deserialize_with = "field")]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    subagent_type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    error: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMessage<'a> {
    #[serde(borrow, deserialize_with = "field")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "list")]
    content: Vec<Block<'a>>,
}

lenient_object!(RawMessage<'de>);

/// All fields of all blocks, because their type may follow them.
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
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<Json<'a>>,
}

impl<'de> Deserialize<'de> for Assistant<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = RawLine::deserialize(deserializer)?;
        let message = line.message.unwrap_or_default();
        Ok(Self {
            message_id: message.id,
            model: message.model,
            blocks: message.content,
            parent_tool_use_id: line.parent_tool_use_id,
            subagent_type: line.subagent_type,
            session_id: line.session_id,
            error: line.error,
        })
    }
}

impl<'de> LenientValue<'de> for Block<'de> {
    fn from_object<A: serde::de::MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        let Some(block) = object::<RawBlock<'de>, A>(fields)? else {
            return Ok(None);
        };
        Ok(Some(match block.kind.as_deref() {
            Some("text") => Self::Text(block.text.unwrap_or_default()),
            Some("thinking") => Self::Thinking(block.thinking.unwrap_or_default()),
            Some("tool_use") => match (block.id, block.name) {
                (Some(id), Some(name)) => Self::ToolUse(ToolUse {
                    id,
                    name,
                    input: block.input,
                }),
                _ => Self::Other(block.kind),
            },
            _ => Self::Other(block.kind),
        }))
    }
}
