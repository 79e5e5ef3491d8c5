//! [`LedgerRecorder`] journals saves of the ledger and reports foreign changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::setting::Setting;
use super::{Durability, JournalLine};
use crate::domain::{Failure, ForeignLedger, LedgerHash};
use crate::port::{RepositoryError, RepositoryErrorKind, RunEventKind};
use crate::tools::{LedgerBook, LedgerWatch};

/// Journals saves of the ledger before they happen, and reports foreign changes to observers.
struct LedgerRecorder {
    setting: Setting,
    restored: AtomicU32,
}

impl Setting {
    /// Makes `book`, which the run has taken over, report to this run.
    pub(super) fn watch_ledger(&self, book: LedgerBook) -> LedgerBook {
        let restored = self.parts.ledger_history.restored(&self.run);
        book.watched(Arc::new(LedgerRecorder {
            setting: self.clone(),
            restored: AtomicU32::new(restored),
        }))
    }

    /// Reports an edit of the ledger between the last run and this one.
    pub(super) async fn report_edited_ledger(&self, book: &LedgerBook) {
        let Some(found) = book.saved_hash().await else {
            return;
        };
        if let Some(recorded) = self.parts.ledger_history.edited(found) {
            self.events
                .emit(RunEventKind::LedgerEdited { recorded, found });
        }
    }
}

impl LedgerWatch for LedgerRecorder {
    fn saving(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError> {
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

    fn restored(&self, foreign: &ForeignLedger) -> u32 {
        self.setting
            .events
            .emit(RunEventKind::LedgerRestored { foreign });
        self.restored.fetch_add(1, Ordering::Relaxed) + 1
    }
}
