//! [`LedgerRecorder`] journals saves of the ledger and reports foreign changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::setting::Setting;
use super::{Durability, JournalError, JournalLine, LedgerHistory};
use crate::domain::{Failure, ForeignLedger, LedgerHash, Retry};
use crate::port::{RepositoryError, RepositoryErrorKind, RunEventKind};
use crate::tools::{LedgerBook, LedgerWatch};

/// Journals saves of the ledger before they happen, and reports foreign changes to observers.
struct LedgerRecorder {
    setting: Setting,
    restored: AtomicU32,
}

impl Setting {
    /// Reads what the journal records of the ledger; `None` if the run has no journal to read.
    pub(super) async fn ledger_history(&self) -> Result<Option<LedgerHistory>, Failure> {
        let Some(read) = self.parts.ledger_history.clone() else {
            return Ok(None);
        };
        let reading = tokio::task::spawn_blocking(move || read()).await;
        let read = reading.unwrap_or_else(|error| {
            let code = "journal_unavailable";
            Err(Failure::from_error(code, &error, Retry::MayHelp))
        });
        read.map(Some)
    }

    /// Makes `book`, which the run has taken over, report to this run.
    pub(super) fn watch_ledger(
        &self,
        book: LedgerBook,
        history: Option<&LedgerHistory>,
    ) -> LedgerBook {
        let restored = history.map_or(0, |history| history.restored(&self.run));
        book.watched(Arc::new(LedgerRecorder {
            setting: self.clone(),
            restored: AtomicU32::new(restored),
        }))
    }

    /// Records the ledger that the run has taken over, unless the journal has its hash. Reports an
    /// edit since the last run.
    pub(super) async fn record_found_ledger(
        &self,
        book: &LedgerBook,
        history: Option<&LedgerHistory>,
    ) -> Result<(), JournalError> {
        let (Some(history), Some(ledger)) = (history, book.saved_ledger().await) else {
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
        self.write_down(&line, Durability::Synced)
    }
}

impl LedgerWatch for LedgerRecorder {
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError> {
        let line = JournalLine::LedgerSave { from, to };
        // Synced, as the ledger is: otherwise a power cut could leave a ledger that is newer than
        // the journal, which looks like an edit.
        let written = self.setting.write_down(&line, Durability::Synced);
        written.map_err(|error| {
            self.setting.lost_journal.lost(Failure::from(&error));
            let message = "the ledger was not changed, because the journal cannot be written";
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).because(error)
        })
    }

    fn record_restore(&self, foreign: &ForeignLedger) -> u32 {
        self.setting
            .events
            .emit(RunEventKind::LedgerRestored { foreign });
        self.restored.fetch_add(1, Ordering::Relaxed) + 1
    }
}
