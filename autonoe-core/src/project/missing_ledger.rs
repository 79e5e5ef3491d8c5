//! Detects a project whose ledger is missing although its work has started.

use std::path::Path;

use super::{Journal, Project, ProjectRunError};
use crate::ledger::{RepositoryError, RepositoryErrorKind};

impl Project {
    /// Checks that the journal records no deliverables. Call it if the ledger is missing: with such
    /// a journal the ledger was lost, and a new plan would replace finished work.
    ///
    /// ```
    /// use autonoe_core::Project;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let project = Project::find(dir.path(), None)?;
    ///
    /// project.check_journal_has_no_deliverables()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The journal records deliverables, or cannot be read.
    pub fn check_journal_has_no_deliverables(&self) -> Result<(), ProjectRunError> {
        match Journal::read_all(self)?.recorded_deliverables() {
            None => Ok(()),
            Some(recorded) => Err(missing_ledger(&self.status_path(), &recorded).into()),
        }
    }
}

/// Creates the error for a ledger that is missing at `path`. `evidence` is a clause that says why
/// it must have existed.
pub(super) fn missing_ledger(path: &Path, evidence: &str) -> RepositoryError {
    let message = format!(
        "{} is missing, but {evidence}; put the ledger back (from a backup, or with `git stash \
         pop` if `git stash` removed it), or move journal*.jsonl away to plan from the beginning",
        path.display()
    );
    RepositoryError::new(RepositoryErrorKind::Missing, message)
}
