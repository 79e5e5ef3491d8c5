//! Messages about tasks: background commands, long commands, sub-agents.

use std::borrow::Cow;

use serde::Deserialize;

use super::lenient::{field, lenient_object, list};

/// The start of a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
    /// Whether the call that started it has returned already (newer builds).
    #[serde(deserialize_with = "field")]
    pub is_backgrounded: Option<bool>,
}

/// A heartbeat of a running task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskProgress<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// The current activity.
    #[serde(borrow, deserialize_with = "field")]
    pub description: Option<Cow<'a, str>>,
}

/// A change of a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct TaskPatch<'a> {
    /// Its new status.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

lenient_object!(TaskPatch<'de>);

/// A task is finished, and the agent is informed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskNotification<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// The status: `completed`, `failed`, `killed` or `stopped`.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
    /// A sentence about the end.
    #[serde(borrow, deserialize_with = "field")]
    pub summary: Option<Cow<'a, str>>,
}

/// The running background tasks (newer builds).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BackgroundTasks<'a> {
    /// All of them. Earlier ones that are missing are finished.
    #[serde(borrow, deserialize_with = "list")]
    pub tasks: Vec<TaskStarted<'a>>,
}

lenient_object!(TaskStarted<'de>);
