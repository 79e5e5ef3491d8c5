//! Status messages of the program: start of turns, retries, quotas, compaction, tasks.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use super::lenient::{field, lenient_object, list};

/// The current activity of the program.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Status<'a> {
    /// `requesting` or `compacting`; `None` for neither.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
    /// The error of a failed compaction.
    #[serde(borrow, deserialize_with = "field")]
    pub compact_error: Option<Cow<'a, str>>,
}

/// The program denied a call by its own rules (newer builds).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PermissionDenied<'a> {
    /// The call.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
}

/// A remark of the program (newer builds), for example that a hook failed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Informational<'a> {
    /// The remark.
    #[serde(borrow, deserialize_with = "field")]
    pub content: Option<Cow<'a, str>>,
    /// The severity, for example `warning`.
    #[serde(borrow, deserialize_with = "field")]
    pub level: Option<Cow<'a, str>>,
}

/// The program became busy or idle.
///
/// It is sent only if `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1` is in the environment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SessionState<'a> {
    /// `running` or `idle`.
    #[serde(borrow, deserialize_with = "field")]
    pub state: Option<Cow<'a, str>>,
}

/// The start of a turn, with the settings of the program. It is sent once per turn.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Init<'a> {
    /// The conversation.
    #[serde(borrow, deserialize_with = "field")]
    pub session_id: Option<Cow<'a, str>>,
    /// The model.
    #[serde(borrow, deserialize_with = "field")]
    pub model: Option<Cow<'a, str>>,
    /// The permission mode in force.
    #[serde(borrow, rename = "permissionMode", deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// The tools of the agent. The tool `Agent` is named `Task` here.
    #[serde(borrow, deserialize_with = "list")]
    pub tools: Vec<Cow<'a, str>>,
    /// The configured MCP servers.
    #[serde(borrow, deserialize_with = "list")]
    pub mcp_servers: Vec<McpServerState<'a>>,
}

/// An MCP server and its status.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpServerState<'a> {
    /// Its name.
    #[serde(borrow, deserialize_with = "field")]
    pub name: Option<Cow<'a, str>>,
    /// Its status, for example `connected`.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

lenient_object!(McpServerState<'de>);

/// The state of a quota, as reported by the provider. It is sent even if the quota is not
/// exhausted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateLimitEvent<'a> {
    /// `allowed`, `allowed_warning` or `rejected`.
    pub status: Option<Cow<'a, str>>,
    /// The name of the quota, for example `five_hour`.
    ///
    /// Without a name, a rejection is a protection of the server, not a quota.
    pub claim: Option<Cow<'a, str>>,
    /// Time of the reset.
    pub resets_at: Option<Timestamp>,
    /// The used fraction, from 0 to 1.
    pub utilization: Option<f64>,
}

impl RateLimitEvent<'_> {
    /// Returns whether a call was rejected.
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

lenient_object!(RawInfo<'de>);

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

/// A model call failed and is retried.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ApiRetry<'a> {
    /// The number of the retry, from 1.
    #[serde(deserialize_with = "field")]
    pub attempt: Option<u64>,
    /// The maximum number of retries.
    #[serde(deserialize_with = "field")]
    pub max_retries: Option<u64>,
    /// The delay before the retry, in milliseconds; may have a fraction.
    #[serde(deserialize_with = "field")]
    pub retry_delay_ms: Option<f64>,
    /// The HTTP status; `None` if there was no answer.
    #[serde(deserialize_with = "field")]
    pub error_status: Option<u64>,
    /// The failure, for example `overloaded`.
    #[serde(borrow, deserialize_with = "field")]
    pub error: Option<Cow<'a, str>>,
}

/// The start of a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskStarted<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// The call that started it.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The type of the task, for example `local_bash`.
    #[serde(borrow, deserialize_with = "field")]
    pub task_type: Option<Cow<'a, str>>,
    /// The agent's description of the task.
    #[serde(borrow, deserialize_with = "field")]
    pub description: Option<Cow<'a, str>>,
}

/// A change of a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskUpdated<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// The changed fields.
    #[serde(borrow, deserialize_with = "field")]
    pub patch: Option<TaskPatch<'a>>,
}

impl TaskUpdated<'_> {
    /// Returns whether the task is finished. An unknown status is not an end.
    pub fn is_end(&self) -> bool {
        let patch = self.patch.as_ref();
        matches!(
            patch.and_then(|patch| patch.status.as_deref()),
            Some("completed" | "failed" | "killed" | "stopped")
        )
    }
}

/// The changed fields of a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskPatch<'a> {
    /// Its new status.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

lenient_object!(TaskPatch<'de>);

/// A task is finished, and the agent is informed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskNotification<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
}

/// The running background tasks (newer builds).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BackgroundTasks<'a> {
    /// All of them. Earlier ones that are missing are finished.
    #[serde(borrow, deserialize_with = "list")]
    pub tasks: Vec<TaskStarted<'a>>,
}

lenient_object!(TaskStarted<'de>);
