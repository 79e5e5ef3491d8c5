//! Ids of what a server sends.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the servers of this process: a conversation may go on with another server, and a
/// program takes two messages of one id for the same.
static SERVERS: AtomicUsize = AtomicUsize::new(1);

/// Makes the ids of one answer. They are the same each time the same script is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    server: usize,
    answer: usize,
}

/// Hands out ids, answer by answer.
#[derive(Debug)]
pub(super) struct IdCounter {
    server: usize,
    answers: AtomicUsize,
}

impl IdCounter {
    /// Begins to count for another server.
    pub(super) fn for_new_server() -> Self {
        Self {
            server: SERVERS.fetch_add(1, Ordering::Relaxed),
            answers: AtomicUsize::new(1),
        }
    }

    /// Returns the ids of another answer.
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

    /// Returns an id of the answer that begins with `kind`, such as `msg`.
    pub(super) fn of(self, kind: &str) -> String {
        format!("{kind}_scripted_{}_{}", self.server, self.answer)
    }

    /// Returns an id of block `index` that begins with `kind`, such as `toolu`.
    pub(super) fn of_block(self, kind: &str, index: usize) -> String {
        format!("{}_{index}", self.of(kind))
    }
}
