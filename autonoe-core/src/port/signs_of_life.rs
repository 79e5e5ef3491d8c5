//! When a backend was last heard of.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// When a backend was last heard of, by whatever it told.
#[derive(Debug, Default)]
pub(crate) struct SignsOfLife(Mutex<Option<Timestamp>>);

impl SignsOfLife {
    /// Takes note of a sign.
    pub(super) fn note(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Returns when the last sign was; `None` if there was none yet.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
