//! A journal in which nobody records an end who was overtaken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use crate::domain::{Epoch, RunId};
use crate::project::{FileDeliverableRepository, FileJournal};
use crate::run::{Durability, JournalError, JournalLine, RunJournal};

/// The journal of a hosted session.
///
/// The end of a session is its record. It is written while nobody can take over, so that who takes
/// over afterwards finds it, and synced, because it is told as soon as it is written.
pub(super) struct RecordingJournal {
    journal: FileJournal,
    ledger: Arc<FileDeliverableRepository>,
    epoch: Epoch,
    has_recorded: AtomicBool,
}

impl RecordingJournal {
    pub(super) fn new(
        journal: FileJournal,
        ledger: Arc<FileDeliverableRepository>,
        epoch: Epoch,
    ) -> Self {
        Self {
            journal,
            ledger,
            epoch,
            has_recorded: AtomicBool::new(false),
        }
    }

    /// Tells whether the end of a session was recorded.
    pub(super) fn has_recorded(&self) -> bool {
        self.has_recorded.load(Ordering::Acquire)
    }
}

impl RunJournal for RecordingJournal {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        if !matches!(line, JournalLine::SessionEnded { .. }) {
            return self.journal.append(run, at, line, durability);
        }
        let record = || self.journal.append(run, at, line, Durability::Synced);
        self.ledger
            .while_epoch_holds(self.epoch, record)
            .map_err(JournalError::new)??;
        self.has_recorded.store(true, Ordering::Release);
        Ok(())
    }
}
