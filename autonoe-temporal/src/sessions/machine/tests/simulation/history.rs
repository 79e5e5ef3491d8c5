//! [`History`]: the events and steps of a workflow, from which its course can be replayed.

use jiff::Timestamp;

use super::super::super::super::input::SessionsInput;
use super::super::super::{SessionsEvent, SessionsMachine, SessionsStep};

/// A course with the events that led to it.
#[derive(Debug)]
pub(super) struct History {
    begin: SessionsInput,
    entries: Vec<(Timestamp, Entry)>,
    pub(super) course: SessionsMachine,
}

#[derive(Debug)]
enum Entry {
    Came(Box<SessionsEvent>),
    Next(SessionsStep),
}

impl History {
    pub(super) fn new(begin: SessionsInput) -> Self {
        Self {
            entries: Vec::new(),
            course: SessionsMachine::new(begin.clone()),
            begin,
        }
    }

    /// Starts a new history with the input that the server stores for it.
    pub(super) fn anew(&self) -> Self {
        let begin = serde_json::to_string(&self.course.next_input()).expect("it is JSON");
        Self::new(serde_json::from_str(&begin).expect("it is the same"))
    }

    pub(super) fn came(&mut self, at: Timestamp, came: SessionsEvent) {
        self.entries.push((at, Entry::Came(Box::new(came.clone()))));
        self.course.on_event(at, came);
    }

    pub(super) fn next(&mut self, at: Timestamp) -> SessionsStep {
        let step = self.course.next(at);
        self.entries.push((at, Entry::Next(step.clone())));
        step
    }

    /// Discards the course and replays it, as the next worker does. Returns whether it is the same.
    pub(super) fn replay(&mut self) -> bool {
        let mut course = SessionsMachine::new(self.begin.clone());
        let mut is_same = true;
        for (at, entry) in &self.entries {
            match entry {
                Entry::Came(came) => course.on_event(*at, SessionsEvent::clone(came)),
                Entry::Next(step) => is_same &= course.next(*at) == *step,
            }
        }
        is_same &= course == self.course;
        self.course = course;
        is_same
    }
}
