//! What the agent is told.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess};

use super::lenient::{Element, Shape, field, list, object, shape_of_object};

/// What the agent is told: results of tools above all, and remarks of the program.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct User<'a> {
    /// What it consists of. A plain text is one block.
    pub blocks: Vec<UserBlock<'a>>,
    /// The call of the tool that started the sub-agent; `None` for the main agent.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// What became of the calls, where the program tells it (newer builds).
    pub decisions: Vec<CallDecision<'a>>,
}

/// A part of what the agent is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum UserBlock<'a> {
    /// A remark, for example that it was interrupted.
    Text(Cow<'a, str>),
    /// What came of a call.
    ToolResult(ToolResult<'a>),
    /// Something else, of this type.
    Other(Option<Cow<'a, str>>),
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResult<'a> {
    /// The call.
    pub tool_use_id: Cow<'a, str>,
    /// What the agent is given, as text; what is no text is named in brackets.
    pub output: Cow<'a, str>,
    /// Whether the call failed; missing means that it did not.
    pub is_error: bool,
}

/// What was decided about a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallDecision<'a> {
    /// The call.
    pub id: Option<Cow<'a, str>>,
    /// `accept` or `reject`.
    pub decision: Option<Cow<'a, str>>,
}

impl User<'_> {
    /// Tells whether the program says that the call was refused.
    pub fn was_rejected(&self, call: &str) -> bool {
        self.decisions.iter().any(|about| {
            about.id.as_deref() == Some(call) && about.decision.as_deref() == Some("reject")
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLine<'a> {
    #[serde(borrow, deserialize_with = "field")]
    message: Option<RawMessage<'a>>,
    #[serde(borrow, deserialize_with = "field")]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "list")]
    tool_result_meta: Vec<RawMeta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMessage<'a> {
    #[serde(borrow, deserialize_with = "field")]
    content: Option<Content<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMeta<'a> {
    #[serde(borrow, deserialize_with = "field")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    permission_decision: Option<RawDecision<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawDecision<'a> {
    #[serde(borrow, deserialize_with = "field")]
    decision: Option<Cow<'a, str>>,
}

/// All fields of all blocks: their type may come after them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawBlock<'a> {
    #[serde(borrow, rename = "type", deserialize_with = "field")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    content: Option<Output<'a>>,
    #[serde(deserialize_with = "field")]
    is_error: Option<bool>,
}

shape_of_object!(RawMessage<'de>);
shape_of_object!(RawMeta<'de>);
shape_of_object!(RawDecision<'de>);
shape_of_object!(RawBlock<'de>);

/// A text, or a list of blocks.
struct Content<'a>(Vec<UserBlock<'a>>);

impl<'de> Shape<'de> for Content<'de> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(Self(vec![UserBlock::Text(text)]))
    }

    fn from_list<A: SeqAccess<'de>>(mut blocks: A) -> Result<Option<Self>, A::Error> {
        let mut read = Vec::new();
        while let Some(Element(block)) = blocks.next_element()? {
            read.extend(block);
        }
        Ok(Some(Self(read)))
    }
}

impl<'de> Shape<'de> for UserBlock<'de> {
    fn from_object<A: MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        let Some(block) = object::<RawBlock<'de>, A>(fields)? else {
            return Ok(None);
        };
        Ok(Some(match (block.kind.as_deref(), block.tool_use_id) {
            (Some("text"), _) => Self::Text(block.text.unwrap_or_default()),
            (Some("tool_result"), Some(tool_use_id)) => Self::ToolResult(ToolResult {
                tool_use_id,
                output: block.content.map(|output| output.0).unwrap_or_default(),
                is_error: block.is_error.unwrap_or(false),
            }),
            _ => Self::Other(block.kind),
        }))
    }
}

/// The output of a tool: a text, or a list of blocks that becomes one text.
struct Output<'a>(Cow<'a, str>);

impl<'de> Shape<'de> for Output<'de> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(Self(text))
    }

    fn from_list<A: SeqAccess<'de>>(mut blocks: A) -> Result<Option<Self>, A::Error> {
        let mut whole: Option<Cow<'de, str>> = None;
        while let Some(block) = blocks.next_element::<Element<RawBlock<'de>>>()? {
            let Element(Some(RawBlock { kind, text, .. })) = block else {
                continue;
            };
            let part = match (kind.as_deref(), text) {
                (Some("text") | None, Some(text)) => text,
                (kind, _) => Cow::Owned(format!("[{}]", kind.unwrap_or("unknown"))),
            };
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => {
                    let whole = whole.to_mut();
                    whole.push('\n');
                    whole.push_str(&part);
                }
            }
        }
        Ok(whole.map(Self))
    }
}

impl<'de> Deserialize<'de> for User<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = RawLine::deserialize(deserializer)?;
        let content = line.message.and_then(|message| message.content);
        let decision = |meta: RawMeta<'de>| CallDecision {
            id: meta.id,
            decision: meta.permission_decision.and_then(|about| about.decision),
        };
        Ok(Self {
            blocks: content.map(|content| content.0).unwrap_or_default(),
            parent_tool_use_id: line.parent_tool_use_id,
            decisions: line.tool_result_meta.into_iter().map(decision).collect(),
        })
    }
}
