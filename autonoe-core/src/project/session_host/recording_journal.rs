//! [`RecordingJournal`], which keeps overtaken callers from recording a session's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use crate::project::{FileDeliverableRepository, FileJournal};
use crate::run::{Durability, JournalError, JournalLine, RunJournal};
use crate::time::{Epoch, RunId};

/// The journal of a hosted session.
///
/// The end of a session is its record. It is written while no other run can take over, so that
/// later owners find it. It is synced, because it is reported as soon as it is written.
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

    /// Returns whether the end of a session was recorded.
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
            .run_under_epoch(self.epoch, record)
            .map_err(JournalError::new)??;
        self.has_recorded.store(true, Ordering::Release);
        Ok(())
    }
}
