//! A word about what goes on, for as long as it does.

use super::{Events, RunEventKind};

/// A word about what goes on, shown until it is dropped. See [`Events::progress`].
#[derive(Debug)]
#[must_use = "a note that is dropped is hidden"]
pub struct ProgressNote {
    events: Events,
}

impl ProgressNote {
    pub(super) fn show(events: Events, message: &str) -> Self {
        events.emit(RunEventKind::ProgressShown { message });
        Self { events }
    }
}

impl Drop for ProgressNote {
    fn drop(&mut self) {
        self.events.emit(RunEventKind::ProgressHidden);
    }
}
