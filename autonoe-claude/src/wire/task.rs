//! Tasks: commands in the background, long commands, sub-agents.

use std::borrow::Cow;

use serde::Deserialize;

use super::lenient::{field, list, shape_of_object};

/// A task started.
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
    /// What it is, for example `local_bash`.
    #[serde(borrow, deserialize_with = "field")]
    pub task_type: Option<Cow<'a, str>>,
    /// What it does, in words of the agent.
    #[serde(borrow, deserialize_with = "field")]
    pub description: Option<Cow<'a, str>>,
    /// Whether the call that started it has returned already (newer builds).
    #[serde(deserialize_with = "field")]
    pub is_backgrounded: Option<bool>,
}

/// A task is at work. A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskProgress<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// What it does.
    #[serde(borrow, deserialize_with = "field")]
    pub description: Option<Cow<'a, str>>,
}

/// Something about a task changed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskUpdated<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// What changed.
    #[serde(borrow, deserialize_with = "field")]
    pub patch: Option<TaskPatch<'a>>,
}

impl TaskUpdated<'_> {
    /// Tells whether the task is over. A status that is not known is not taken for an end.
    pub fn is_end(&self) -> bool {
        let patch = self.patch.as_ref();
        matches!(
            patch.and_then(|patch| patch.status.as_deref()),
            Some("completed" | "failed" | "killed" | "stopped")
        )
    }
}

/// What changed about a task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskPatch<'a> {
    /// Its new status.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

shape_of_object!(TaskPatch<'de>);

/// A task is over, and the agent is told.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskNotification<'a> {
    /// The task.
    #[serde(borrow, deserialize_with = "field")]
    pub task_id: Option<Cow<'a, str>>,
    /// How it ended: `completed`, `failed`, `killed` or `stopped`.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
    /// How it ended, in a sentence.
    #[serde(borrow, deserialize_with = "field")]
    pub summary: Option<Cow<'a, str>>,
}

/// The tasks that live in the background now (newer builds).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BackgroundTasks<'a> {
    /// All of them; those of before that are missing are over.
    #[serde(borrow, deserialize_with = "list")]
    pub tasks: Vec<TaskStarted<'a>>,
}

shape_of_object!(TaskStarted<'de>);
