//! [`ProgressNote`], a message that observers show while an operation runs.

use crate::event::{Events, RunEventKind};

/// Message about a running operation, shown until the note is dropped. See [`Events::progress`].
#[derive(Debug)]
#[must_use = "dropping a note hides it"]
pub struct ProgressNote {
    events: Events,
}

impl Events {
    /// Emits a progress message that is shown until the returned note is dropped.
    ///
    /// ```
    /// use autonoe_core::event::Events;
    ///
    /// let events = Events::silent(); // a backend has `SessionSpec::events`
    ///
    /// let note = events.progress("compacting the conversation");
    /// // .. it takes a while ..
    /// drop(note);
    /// ```
    pub fn progress(&self, message: &str) -> ProgressNote {
        self.emit(RunEventKind::ProgressStarted { message });
        let events = self.clone();
        ProgressNote { events }
    }
}

impl Drop for ProgressNote {
    fn drop(&mut self) {
        self.events.emit(RunEventKind::ProgressEnded);
    }
}
