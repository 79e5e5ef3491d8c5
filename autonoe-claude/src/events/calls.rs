//! Calls of tools that have no result yet.

use std::collections::{HashMap, HashSet};

/// Calls of tools that have no result yet, and which of them were refused.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, u64>,
    made: u64,
    denied: HashSet<String>,
}

impl Calls {
    /// Notes a call; `false` if it is open already.
    pub(super) fn made(&mut self, id: &str) -> bool {
        if self.open.contains_key(id) {
            return false;
        }
        self.made += 1;
        self.open.insert(id.to_owned(), self.made);
        true
    }

    /// Notes that a call was refused.
    pub(super) fn denied(&mut self, id: &str) {
        self.denied.insert(id.to_owned());
    }

    /// Notes the result of a call; `None` if no such call is open.
    pub(super) fn answered(&mut self, id: &str) -> Option<WasDenied> {
        self.open.remove(id)?;
        Some(if self.denied.remove(id) {
            WasDenied::Yes
        } else {
            WasDenied::No
        })
    }

    /// Tells whether the call has no result yet.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Takes the calls without a result, in the order in which they were made.
    pub(super) fn take_open(&mut self) -> Vec<String> {
        let mut open: Vec<(String, u64)> = self.open.drain().collect();
        open.sort_by_key(|(_, made)| *made);
        self.denied.clear();
        open.into_iter().map(|(id, _)| id).collect()
    }
}

/// Whether a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WasDenied {
    Yes,
    No,
}
