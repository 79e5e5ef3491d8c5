//! [`LedgerRecorder`] journals saves of the ledger and reports foreign changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::run_context::RunContext;
use super::{Durability, JournalError, JournalLine, LedgerHistory};
use crate::event::RunEventKind;
use crate::event::{Failure, Retry};
use crate::ledger::{ForeignLedger, LedgerHash};
use crate::ledger::{LedgerStore, LedgerWatch};
use crate::ledger::{RepositoryError, RepositoryErrorKind};

/// Records saves of the ledger in the journal before they happen, and reports foreign changes to
/// observers.
struct LedgerRecorder {
    setting: RunContext,
    restored: AtomicU32,
}

impl RunContext {
    /// Reads the ledger history from the journal; `None` if the run has no readable journal.
    pub(crate) async fn ledger_history(&self) -> Result<Option<LedgerHistory>, Failure> {
        let Some(read) = self.parts.ledger_history.clone() else {
            return Ok(None);
        };
        let reading = tokio::task::spawn_blocking(move || read()).await;
        let read = reading.unwrap_or_else(|error| {
            let code = "journal_unavailable";
            Err(Failure::from_error(code, &error, Retry::Retryable))
        });
        read.map(Some)
    }

    /// Makes `store`, which this run has taken over, report to this run.
    pub(crate) fn watch_ledger(
        &self,
        store: LedgerStore,
        history: Option<&LedgerHistory>,
    ) -> LedgerStore {
        let restored = history.map_or(0, |history| history.restored(&self.run));
        store.with_watch(Arc::new(LedgerRecorder {
            setting: self.clone(),
            restored: AtomicU32::new(restored),
        }))
    }

    /// Records the hash of the ledger that the run has taken over, unless the journal already has
    /// it. Reports an edit since the last run.
    pub(crate) async fn record_found_ledger(
        &self,
        store: &LedgerStore,
        history: Option<&LedgerHistory>,
    ) -> Result<(), JournalError> {
        let (Some(history), Some(ledger)) = (history, store.saved_ledger().await) else {
            return Ok(());
        };
        if history.matches(&ledger) {
            return Ok(());
        }
        let found = ledger.content_hash();
        if let Some(recorded) = history.edited(found) {
            self.events
                .emit(RunEventKind::LedgerEdited { recorded, found });
            return Ok(());
        }
        let line = JournalLine::LedgerSave {
            from: Some(found),
            to: found,
        };
        self.record(&line, Durability::Synced)
    }
}

impl LedgerWatch for LedgerRecorder {
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError> {
        let line = JournalLine::LedgerSave { from, to };
        // Synced, like the ledger: otherwise a power cut could leave a ledger that is newer than
        // the journal, which looks like an edit.
        let written = self.setting.record(&line, Durability::Synced);
        written.map_err(|error| {
            self.setting.lost_journal.raise(Failure::from(&error));
            let message = "the ledger was not changed, because the journal cannot be written";
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error)
        })
    }

    fn record_restore(&self, foreign: &ForeignLedger) -> u32 {
        self.setting
            .events
            .emit(RunEventKind::LedgerRestored { foreign });
        self.restored.fetch_add(1, Ordering::Relaxed) + 1
    }
}
