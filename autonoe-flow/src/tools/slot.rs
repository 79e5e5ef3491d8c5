//! Where tools put what an agent told in one iteration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::progress::Signal;

/// Where tools put what an agent told in one iteration. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct IterationSlot(Arc<Mutex<Collected>>);

/// What an agent told in one iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The outputs of the step, by name. Of an output that was set twice, the later value.
    pub outputs: Map<String, Value>,
    /// The signals, in their order.
    pub signals: Vec<Signal>,
}

impl IterationSlot {
    /// Takes what was told, and leaves the slot empty.
    pub fn take(&self) -> Collected {
        std::mem::take(&mut *self.lock())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
