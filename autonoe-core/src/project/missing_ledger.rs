//! Refuses a project whose ledger is missing although its journal knows of deliverables.

use super::{Journal, Project, ProjectRunError};
use crate::port::{RepositoryError, RepositoryErrorKind};

impl Project {
    /// Checks that a ledger that is missing has never been there: a new plan would take the place
    /// of work that is done.
    ///
    /// ```
    /// use autonoe_core::Project;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let project = Project::find(dir.path(), None)?;
    ///
    /// project.check_missing_ledger()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The journal knows of deliverables, or cannot be read.
    pub fn check_missing_ledger(&self) -> Result<(), ProjectRunError> {
        let known = match Journal::read_all(self)?.deliverable_count() {
            0 => return Ok(()),
            1 => "1 deliverable".to_owned(),
            known => format!("{known} deliverables"),
        };
        let message = format!(
            "{} is missing, but the journal beside it knows of {known}; put the ledger back (from \
             a backup, or with `git stash pop` if `git stash` removed it), or move journal*.jsonl \
             away to plan from the beginning",
            self.status_path().display()
        );
        Err(RepositoryError::new(RepositoryErrorKind::Gone, message).into())
    }
}
