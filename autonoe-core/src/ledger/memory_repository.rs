//! [`MemoryRepository`], a ledger repository in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::ledger::LedgerState;
use crate::ledger::{
    DeliverableRepository, Fence, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
};

/// In-memory ledger repository, for tests and for embedders that need no file.
#[derive(Debug, Default)]
pub struct MemoryRepository {
    saved: Mutex<Option<Saved>>,
}

#[derive(Debug)]
struct Saved {
    snapshot: Snapshot,
    writes: u64,
}

impl MemoryRepository {
    /// Creates an empty repository.
    pub fn new() -> Self {
        Self::default()
    }

    fn saved(&self) -> MutexGuard<'_, Option<Saved>> {
        // No code panics half-way through a change while it holds the lock.
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DeliverableRepository for MemoryRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        Ok(self.saved().as_ref().map(|saved| saved.snapshot.clone()))
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        let mut saved = self.saved();
        let latest = saved.as_ref().map(|saved| &saved.snapshot);
        if latest.is_some_and(|latest| fence.epoch < latest.epoch) {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Fenced,
                "another run has taken over the ledger",
            ));
        }
        if latest.map(|latest| &latest.revision) != fence.base.as_ref() {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Conflict,
                "the ledger has changed since it was read",
            ));
        }
        let writes = saved.as_ref().map_or(1, |saved| saved.writes + 1);
        let revision = Revision::new(writes.to_string());
        let snapshot = Snapshot {
            state: state.clone(),
            revision: revision.clone(),
            epoch: fence.epoch,
        };
        *saved = Some(Saved { snapshot, writes });
        Ok(revision)
    }
}
