//! [`Tasks`] of a session, and progress notes for silent phases.

use std::collections::BTreeMap;

use autonoe_core::event::Events;
use autonoe_core::tool::ProgressNote;

use crate::wire::{BackgroundTasks, Message, TaskStarted};

/// The running tasks of a session: background commands, long commands, sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    running: BTreeMap<String, Task>,
}

/// A running task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The type of the task, for example `local_bash` or `local_agent`.
    pub kind: Option<String>,
    /// The agent's description of the task.
    pub description: Option<String>,
    /// The call that started it.
    pub call: Option<String>,
    /// Whether the program lists it as a background task.
    listed: bool,
}

impl Tasks {
    /// Returns the number of running tasks.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Returns whether no task is running.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns the running tasks, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Task)> {
        self.running.iter().map(|(id, task)| (id.as_str(), task))
    }

    /// Returns whether one of them is a sub-agent.
    pub fn any_agent(&self) -> bool {
        let kind = |task: &Task| task.kind.as_deref() == Some("local_agent");
        self.running.values().any(kind)
    }

    pub(super) fn start(&mut self, started: &TaskStarted<'_>) {
        let Some(id) = started.task_id.as_deref() else {
            return;
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let task = self.running.entry(id.to_owned()).or_default();
        // A list contains less than the start message, so known fields are kept.
        task.kind = owned(started.task_type.as_deref()).or(task.kind.take());
        task.description = owned(started.description.as_deref()).or(task.description.take());
        task.call = owned(started.tool_use_id.as_deref()).or(task.call.take());
    }

    /// Removes the finished task, if it was running.
    pub(super) fn end(&mut self, id: Option<&str>) -> Option<Task> {
        self.running.remove(id?)
    }

    /// Applies the list of background tasks, and returns the tasks that are finished.
    ///
    /// A task that was never listed is in the foreground. Its absence from the list has no meaning.
    pub(super) fn list(&mut self, listed: &BackgroundTasks<'_>) -> Vec<Task> {
        for task in &listed.tasks {
            self.start(task);
        }
        let is_listed = |id: &str| {
            let mut ids = listed.tasks.iter().map(|task| task.task_id.as_deref());
            ids.any(|listed| listed == Some(id))
        };
        let mut over = Vec::new();
        self.running.retain(|id, task| {
            let now = is_listed(id);
            if task.listed && !now {
                over.push(std::mem::take(task));
                return false;
            }
            task.listed = now;
            true
        });
        over
    }
}

/// Reports to users that the program compacts the conversation, during which it is silent.
///
/// ```
/// use autonoe_claude::events::ActivityTracker;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::event::Events;
///
/// let mut busy = ActivityTracker::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"system","subtype":"status","status":"compacting"}"#)?;
///
/// busy.observe(&line.parse());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ActivityTracker {
    events: Events,
    note: Option<ProgressNote>,
}

impl ActivityTracker {
    /// Creates a reporter to the observers of `events`.
    pub fn new(events: Events) -> Self {
        Self { events, note: None }
    }

    /// Observes `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Status(status) if status.status.as_deref() == Some("compacting") => {
                let show = || self.events.progress("compacting the conversation");
                let _ = self.note.get_or_insert_with(show);
            }
            // The next status ends the note, and at the latest the end of the turn.
            Message::Status(_) | Message::Result(_) => self.note = None,
            _ => {}
        }
    }
}
