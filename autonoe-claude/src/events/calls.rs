//! [`OpenCalls`], the tool calls without a result.

use std::collections::{HashMap, HashSet};

/// Tool calls without a result, and which of them were denied.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: HashMap<String, u64>,
    made: u64,
    denied: HashSet<String>,
}

impl OpenCalls {
    /// Records a call; `false` if it is open already.
    pub(super) fn record_call(&mut self, id: &str) -> bool {
        if self.open.contains_key(id) {
            return false;
        }
        self.made += 1;
        self.open.insert(id.to_owned(), self.made);
        true
    }

    /// Records that a call was denied.
    pub(super) fn record_denial(&mut self, id: &str) {
        self.denied.insert(id.to_owned());
    }

    /// Records the result of a call; `None` if no such call is open.
    pub(super) fn record_result(&mut self, id: &str) -> Option<WasDenied> {
        self.open.remove(id)?;
        Some(if self.denied.remove(id) {
            WasDenied::Yes
        } else {
            WasDenied::No
        })
    }

    /// Returns whether the call has no result yet.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Removes and returns the calls without a result, in the order in which they were made.
    pub(super) fn take_open(&mut self) -> Vec<String> {
        let mut open: Vec<(String, u64)> = self.open.drain().collect();
        open.sort_by_key(|(_, made)| *made);
        self.denied.clear();
        open.into_iter().map(|(id, _)| id).collect()
    }
}

/// Whether a call was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WasDenied {
    Yes,
    No,
}
