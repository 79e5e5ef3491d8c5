//! The tasks that live.

use std::collections::BTreeMap;

use autonoe_core::{Events, ProgressNote};

use crate::wire::{BackgroundTasks, Message, TaskStarted};

/// The tasks of a session that live: commands in the background, long commands, sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    live: BTreeMap<String, Task>,
}

/// A task that lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// What it is, for example `local_bash` or `local_agent`.
    pub kind: Option<String>,
    /// What it does, in words of the agent.
    pub description: Option<String>,
    /// The call that started it.
    pub call: Option<String>,
    /// Whether the program lists it as one in the background.
    listed: bool,
}

impl Tasks {
    /// Returns how many live.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Tells whether none lives.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Returns those that live, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Task)> {
        self.live.iter().map(|(id, task)| (id.as_str(), task))
    }

    /// Returns whether one of them is a sub-agent.
    pub fn any_agent(&self) -> bool {
        let kind = |task: &Task| task.kind.as_deref() == Some("local_agent");
        self.live.values().any(kind)
    }

    pub(super) fn start(&mut self, started: &TaskStarted<'_>) {
        let Some(id) = started.task_id.as_deref() else {
            return;
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let task = self.live.entry(id.to_owned()).or_default();
        // A list tells less than the start: what is known stays.
        task.kind = owned(started.task_type.as_deref()).or(task.kind.take());
        task.description = owned(started.description.as_deref()).or(task.description.take());
        task.call = owned(started.tool_use_id.as_deref()).or(task.call.take());
    }

    /// Removes the task that is over, if it lived.
    pub(super) fn end(&mut self, id: Option<&str>) -> Option<Task> {
        self.live.remove(id?)
    }

    /// Takes over the list of tasks in the background; returns those that are over.
    ///
    /// A task that was never listed is in the foreground, so that it says
    /// nothing that it is missing.
    pub(super) fn list(&mut self, listed: &BackgroundTasks<'_>) -> Vec<Task> {
        for task in &listed.tasks {
            self.start(task);
        }
        let is_listed = |id: &str| {
            let mut ids = listed.tasks.iter().map(|task| task.task_id.as_deref());
            ids.any(|listed| listed == Some(id))
        };
        let mut over = Vec::new();
        self.live.retain(|id, task| {
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

/// Shows people what the program does while it says nothing: it compacts the conversation.
///
/// ```
/// use autonoe_claude::events::Busy;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::Events;
///
/// let mut busy = Busy::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"system","subtype":"status","status":"compacting"}"#)?;
///
/// busy.observe(&line.read());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Busy {
    events: Events,
    note: Option<ProgressNote>,
}

impl Busy {
    /// Shows it to those who watch a session through `events`.
    pub fn new(events: Events) -> Self {
        Self { events, note: None }
    }

    /// Takes note of `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Status(status) if status.status.as_deref() == Some("compacting") => {
                let show = || self.events.progress("compacting the conversation");
                let _ = self.note.get_or_insert_with(show);
            }
            // Whatever it says of itself next, and at the latest the end of the turn.
            Message::Status(_) | Message::Result(_) => self.note = None,
            _ => {}
        }
    }
}
