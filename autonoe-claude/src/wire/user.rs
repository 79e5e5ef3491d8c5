//! [`User`] messages to the agent, mostly results of tools.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess};

use super::lenient::{Element, LenientValue, field, lenient_object, list, object};

/// A message to the agent: mostly results of tools, and remarks of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User<'a> {
    /// The content blocks. A plain text is one block.
    pub blocks: Vec<UserBlock<'a>>,
    /// The decisions about calls, if the program reports them (newer builds).
    pub decisions: Vec<CallDecision<'a>>,
}

/// A content block of a message to the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum UserBlock<'a> {
    /// A remark, for example about an interrupt.
    Text(Cow<'a, str>),
    /// The result of a call.
    ToolResult(ToolResult<'a>),
    /// Any other block, with its type.
    Other(Option<Cow<'a, str>>),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult<'a> {
    /// The call.
    pub tool_use_id: Cow<'a, str>,
    /// The output as text; other content is represented by its type in brackets.
    pub output: Cow<'a, str>,
    /// Whether the call failed; `false` if it is missing.
    pub is_error: bool,
}

/// The decision about a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallDecision<'a> {
    /// The call.
    pub id: Option<Cow<'a, str>>,
    /// `accept` or `reject`.
    pub decision: Option<Cow<'a, str>>,
}

impl User<'_> {
    /// Returns whether the program reports that the call was denied.
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

/// All fields of all blocks, because their type may follow them.
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

lenient_object!(RawMessage<'de>);
lenient_object!(RawMeta<'de>);
lenient_object!(RawDecision<'de>);
lenient_object!(RawBlock<'de>);

/// A text, or a list of blocks.
struct Content<'a>(Vec<UserBlock<'a>>);

impl<'de> LenientValue<'de> for Content<'de> {
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

impl<'de> LenientValue<'de> for UserBlock<'de> {
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

/// The output of a tool: a text, or a list of blocks that are joined to one text.
struct Output<'a>(Cow<'a, str>);

impl<'de> LenientValue<'de> for Output<'de> {
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
            decisions: line.tool_result_meta.into_iter().map(decision).collect(),
        })
    }
}
