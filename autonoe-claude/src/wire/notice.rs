//! What the program says about itself.

use std::borrow::Cow;

use serde::Deserialize;

use super::lenient::{field, shape_of_object};

/// What the program is about to do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Status<'a> {
    /// `requesting` or `compacting`; `None` for neither.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
    /// The permission mode, when it changed.
    #[serde(borrow, rename = "permissionMode", deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// Why the conversation could not be compacted.
    #[serde(borrow, deserialize_with = "field")]
    pub compact_error: Option<Cow<'a, str>>,
}

/// The conversation was compacted: the agent remembers a summary of what was before.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompactBoundary<'a> {
    /// About the compaction.
    #[serde(borrow, deserialize_with = "field")]
    pub compact_metadata: Option<CompactMetadata<'a>>,
}

/// About a compaction.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompactMetadata<'a> {
    /// What caused it, for example `manual`.
    #[serde(borrow, deserialize_with = "field")]
    pub trigger: Option<Cow<'a, str>>,
    /// The tokens of the conversation before.
    #[serde(deserialize_with = "field")]
    pub pre_tokens: Option<u64>,
    /// The tokens of the conversation after.
    #[serde(deserialize_with = "field")]
    pub post_tokens: Option<u64>,
}

shape_of_object!(CompactMetadata<'de>);

/// The program refused a call by its own rules (newer builds).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PermissionDenied<'a> {
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// The call.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// What the agent is told.
    #[serde(borrow, deserialize_with = "field")]
    pub message: Option<Cow<'a, str>>,
}

/// A remark of the program (newer builds), for example that a hook failed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Informational<'a> {
    /// The remark.
    #[serde(borrow, deserialize_with = "field")]
    pub content: Option<Cow<'a, str>>,
    /// How grave it is, for example `warning`.
    #[serde(borrow, deserialize_with = "field")]
    pub level: Option<Cow<'a, str>>,
    /// What it is about, for example `hook_callback_failed`.
    #[serde(borrow, deserialize_with = "field")]
    pub tag: Option<Cow<'a, str>>,
}

/// The program began or ceased to work on turns.
///
/// It comes only when `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1` is in its environment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SessionState<'a> {
    /// `running` or `idle`.
    #[serde(borrow, deserialize_with = "field")]
    pub state: Option<Cow<'a, str>>,
}
