//! What the agent says, thinks or wants to do.

use std::borrow::Cow;

use serde::Deserialize;

use super::Json;
use super::lenient::{Shape, field, list, object, shape_of_object};

/// What the agent says, thinks or wants to do: one content block a line.
///
/// The lines of one answer of the model share its id. How many tokens were used
/// is not told here: what such a line says of them is from the start of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Assistant<'a> {
    /// The answer of the model that the line is a part of.
    pub message_id: Option<Cow<'a, str>>,
    /// The model, or [`SYNTHETIC`](Self::SYNTHETIC).
    pub model: Option<Cow<'a, str>>,
    /// What it consists of; one block in all that was recorded.
    pub blocks: Vec<Block<'a>>,
    /// The call of the tool that started the sub-agent; `None` for the main agent.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// The kind of the sub-agent, for example `general-purpose`.
    pub subagent_type: Option<Cow<'a, str>>,
    /// The conversation.
    pub session_id: Option<Cow<'a, str>>,
    /// What failed, if this tells of a failure, for example `rate_limit`.
    pub error: Option<Cow<'a, str>>,
}

impl Assistant<'_> {
    /// The model of what the program says in place of the agent.
    pub const SYNTHETIC: &'static str = "<synthetic>";

    /// Tells whether the program says this, not the agent.
    pub fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(Self::SYNTHETIC)
    }
}

/// A part of what the agent says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// It says something.
    Text(Cow<'a, str>),
    /// It thinks something.
    Thinking(Cow<'a, str>),
    /// It wants to use a tool.
    ToolUse(ToolUse<'a>),
    /// Something else, of this type.
    Other(Option<Cow<'a, str>>),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUse<'a> {
    /// Pairs the call with its result.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// What it is called with.
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

shape_of_object!(RawMessage<'de>);

/// All fields of all blocks: their type may come after them.
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

impl<'de> Shape<'de> for Block<'de> {
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
