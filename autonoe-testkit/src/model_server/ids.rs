//! Generator of the ids that a server sends.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the servers of this process: a conversation may continue with another server, and a
/// program takes two messages with the same id for one.
static SERVERS: AtomicUsize = AtomicUsize::new(1);

/// Generates the ids of one answer. They are deterministic for a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    server: usize,
    answer: usize,
}

/// Allocates ids, answer by answer.
#[derive(Debug)]
pub(super) struct IdCounter {
    server: usize,
    answers: AtomicUsize,
}

impl IdCounter {
    /// Starts counting for a new server.
    pub(super) fn for_new_server() -> Self {
        Self {
            server: SERVERS.fetch_add(1, Ordering::Relaxed),
            answers: AtomicUsize::new(1),
        }
    }

    /// Returns the ids of the next answer.
    pub(super) fn next(&self) -> Ids {
        Ids {
            server: self.server,
            answer: self.answers.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl Ids {
    #[cfg(test)]
    pub(super) fn fixed() -> Self {
        Self {
            server: 1,
            answer: 1,
        }
    }

    /// Returns an id of the answer that starts with `kind`, such as `msg`.
    pub(super) fn answer_id(self, kind: &str) -> String {
        format!("{kind}_scripted_{}_{}", self.server, self.answer)
    }

    /// Returns an id of block `index` that starts with `kind`, such as `toolu`.
    pub(super) fn block_id(self, kind: &str, index: usize) -> String {
        format!("{}_{index}", self.answer_id(kind))
    }
}
