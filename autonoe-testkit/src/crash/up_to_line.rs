//! A journal that takes some lines and then ends the life of its run.

use std::sync::{Mutex, PoisonError};

use autonoe_core::{Durability, FileJournal, JournalError, JournalLine, RunId, RunJournal};
use jiff::Timestamp;

/// What happens once the last line is written.
pub(super) type Death = Box<dyn Fn() + Send + Sync>;

/// Takes as many lines as it was told to, calls a death and takes no more.
pub(super) struct UpToLine {
    inner: FileJournal,
    left: Mutex<usize>,
    death: Death,
}

impl UpToLine {
    pub(super) fn new(inner: FileJournal, lines: usize, death: Death) -> Self {
        Self {
            inner,
            left: Mutex::new(lines),
            death,
        }
    }
}

impl RunJournal for UpToLine {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *left == 0 {
            return Err(JournalError::new("the run was interrupted here"));
        }
        self.inner.append(run, at, line, durability)?;
        *left -= 1;
        if *left == 0 {
            // Still with the lock: a death that does not return stops every other writer, too.
            (self.death)();
        }
        Ok(())
    }
}
