//! Messages of the program about itself.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use super::lenient::{field, list, shape_of_object};

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
    /// The text that the agent receives.
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

/// The start of a turn, with what the program was started as. It comes once per turn.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Init<'a> {
    /// The conversation.
    #[serde(borrow, deserialize_with = "field")]
    pub session_id: Option<Cow<'a, str>>,
    /// The directory that it works in.
    #[serde(borrow, deserialize_with = "field")]
    pub cwd: Option<Cow<'a, str>>,
    /// The model.
    #[serde(borrow, deserialize_with = "field")]
    pub model: Option<Cow<'a, str>>,
    /// The permission mode that is in force.
    #[serde(borrow, rename = "permissionMode", deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// Where the key for the model comes from.
    #[serde(borrow, rename = "apiKeySource", deserialize_with = "field")]
    pub api_key_source: Option<Cow<'a, str>>,
    /// The version of the program.
    #[serde(borrow, deserialize_with = "field")]
    pub claude_code_version: Option<Cow<'a, str>>,
    /// The tools that the agent has. The tool `Agent` is called `Task` here.
    #[serde(borrow, deserialize_with = "list")]
    pub tools: Vec<Cow<'a, str>>,
    /// The MCP servers that it knows.
    #[serde(borrow, deserialize_with = "list")]
    pub mcp_servers: Vec<McpServerState<'a>>,
}

/// An MCP server and how it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpServerState<'a> {
    /// Its name.
    #[serde(borrow, deserialize_with = "field")]
    pub name: Option<Cow<'a, str>>,
    /// How it is, for example `connected`.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

shape_of_object!(McpServerState<'de>);

/// What the provider says is left of a quota. It comes in good times too.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateLimitEvent<'a> {
    /// `allowed`, `allowed_warning` or `rejected`.
    pub status: Option<Cow<'a, str>>,
    /// Which quota it is, for example `five_hour`.
    ///
    /// A rejection without one is the server protecting itself, not a quota.
    pub claim: Option<Cow<'a, str>>,
    /// When it comes back.
    pub resets_at: Option<Timestamp>,
    /// How much of it is used, from 0 to 1.
    pub utilization: Option<f64>,
}

impl RateLimitEvent<'_> {
    /// Tells whether a call did not get through.
    pub fn is_rejected(&self) -> bool {
        self.status.as_deref() == Some("rejected")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawEvent<'a> {
    #[serde(borrow, deserialize_with = "field")]
    rate_limit_info: Option<RawInfo<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawInfo<'a> {
    #[serde(borrow, deserialize_with = "field")]
    status: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "field")]
    rate_limit_type: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "field")]
    resets_at: Option<u64>,
    #[serde(deserialize_with = "field")]
    utilization: Option<f64>,
}

shape_of_object!(RawInfo<'de>);

impl<'de> Deserialize<'de> for RateLimitEvent<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let info = RawEvent::deserialize(deserializer)?
            .rate_limit_info
            .unwrap_or_default();
        let second = |second| Timestamp::from_second(i64::try_from(second).ok()?).ok();
        Ok(Self {
            status: info.status,
            claim: info.rate_limit_type,
            resets_at: info.resets_at.and_then(second),
            utilization: info.utilization,
        })
    }
}

/// A call of the model failed and is made again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ApiRetry<'a> {
    /// Which retry it is, from 1.
    #[serde(deserialize_with = "field")]
    pub attempt: Option<u64>,
    /// How many there will be at most.
    #[serde(deserialize_with = "field")]
    pub max_retries: Option<u64>,
    /// How long it is waited before, in milliseconds; may have a fraction.
    #[serde(deserialize_with = "field")]
    pub retry_delay_ms: Option<f64>,
    /// The HTTP status; `None` if there was none.
    #[serde(deserialize_with = "field")]
    pub error_status: Option<u64>,
    /// What failed, for example `overloaded`.
    #[serde(borrow, deserialize_with = "field")]
    pub error: Option<Cow<'a, str>>,
}
