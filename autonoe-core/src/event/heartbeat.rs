//! Time of the most recent sign of activity from a backend.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// Time at which a backend last emitted an event or a heartbeat.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat(Mutex<Option<Timestamp>>);

impl Heartbeat {
    /// Records a heartbeat.
    pub(crate) fn record(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Returns the time of the last heartbeat, or `None` before the first one.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
