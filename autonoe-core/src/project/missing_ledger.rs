//! Refuses a project whose ledger is missing although its journal knows of deliverables.

use super::{Journal, Project, ProjectRunError};
use crate::port::{RepositoryError, RepositoryErrorKind};

/// Refuses to begin without a ledger if the journal of `project` knows of deliverables: a new plan
/// would take the place of work that is done.
///
/// # Errors
///
/// The journal knows of deliverables, or cannot be read.
pub(super) fn refuse_missing_ledger(project: &Project) -> Result<(), ProjectRunError> {
    let known = match Journal::read_all(project)?.deliverable_count() {
        0 => return Ok(()),
        1 => "1 deliverable".to_owned(),
        known => format!("{known} deliverables"),
    };
    let message = format!(
        "{} is missing, but the journal beside it knows of {known}; put the ledger back (from a \
         backup, or with `git stash pop` if `git stash` removed it), or move journal*.jsonl away \
         to plan from the beginning",
        project.status_path().display()
    );
    Err(RepositoryError::new(RepositoryErrorKind::Gone, message).into())
}
