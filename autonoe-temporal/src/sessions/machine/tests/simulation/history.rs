//! [`History`]: the events and steps of a workflow, from which its state machine can be replayed.

use jiff::Timestamp;

use super::super::super::super::input::SessionsInput;
use super::super::super::{SessionsEvent, SessionsMachine, SessionsStep};

/// A state machine with the events that led to it.
#[derive(Debug)]
pub(super) struct History {
    begin: SessionsInput,
    entries: Vec<(Timestamp, Entry)>,
    pub(super) state_machine: SessionsMachine,
}

#[derive(Debug)]
enum Entry {
    Event(Box<SessionsEvent>),
    Next(SessionsStep),
}

impl History {
    pub(super) fn new(begin: SessionsInput) -> Self {
        Self {
            entries: Vec::new(),
            state_machine: SessionsMachine::new(begin.clone()),
            begin,
        }
    }

    /// Starts a new history with the input that the server stores for it.
    pub(super) fn with_new_history(&self) -> Self {
        let begin = serde_json::to_string(&self.state_machine.next_input()).expect("it is JSON");
        Self::new(serde_json::from_str(&begin).expect("it is the same"))
    }

    pub(super) fn apply(&mut self, at: Timestamp, event: SessionsEvent) {
        self.entries
            .push((at, Entry::Event(Box::new(event.clone()))));
        self.state_machine.on_event(at, event);
    }

    pub(super) fn next(&mut self, at: Timestamp) -> SessionsStep {
        let step = self.state_machine.next(at);
        self.entries.push((at, Entry::Next(step.clone())));
        step
    }

    /// Discards the state machine and replays it, as the next worker does. Returns whether it is the same.
    pub(super) fn replay(&mut self) -> bool {
        let mut state_machine = SessionsMachine::new(self.begin.clone());
        let mut is_same = true;
        for (at, entry) in &self.entries {
            match entry {
                Entry::Event(event) => state_machine.on_event(*at, SessionsEvent::clone(event)),
                Entry::Next(step) => is_same &= state_machine.next(*at) == *step,
            }
        }
        is_same &= state_machine == self.state_machine;
        self.state_machine = state_machine;
        is_same
    }
}
