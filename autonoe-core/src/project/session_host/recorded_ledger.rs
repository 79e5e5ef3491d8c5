//! [`RecordedLedger`] checks the ledger of a hosted run against the journal.

use crate::event::Failure;
use crate::ledger::LedgerView;
use crate::ledger::{RepositoryError, RepositoryErrorKind, Snapshot};
use crate::project::missing_ledger::missing_ledger;
use crate::project::{Journal, Project};
use crate::run::{JournalLine, LedgerHistory};
use crate::time::RunId;

/// The journal's records of the ledger of a hosted run.
///
/// Between two sessions no process holds the run lock or keeps the ledger in memory. The journal has
/// only its hash, so a ledger that something else changed cannot be restored: it is an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecordedLedger {
    history: LedgerHistory,
    /// A clause that names the recorded deliverables.
    deliverables: Option<String>,
    /// Whether the ledger belongs to the run: from its first recorded session to its end.
    is_owned: bool,
}

impl RecordedLedger {
    /// Collects the records of `run` from `journal`.
    pub(super) fn from_journal(journal: &Journal, run: &RunId) -> Self {
        let has_session = journal.entries().iter().any(|entry| {
            entry.run == *run && matches!(entry.line, JournalLine::SessionEnded { .. })
        });
        Self {
            history: journal.ledger_history(),
            deliverables: journal.recorded_deliverables(),
            is_owned: has_session && !journal.has_ended(run),
        }
    }

    /// Returns the counts of `found`, the ledger of `project`; `None` if there was never one.
    ///
    /// # Errors
    ///
    /// The ledger is missing although deliverables are recorded, or something other than the run
    /// changed it.
    pub(super) fn check(
        &self,
        project: &Project,
        found: Option<Snapshot>,
    ) -> Result<Option<LedgerView>, Failure> {
        let error = match (found, &self.deliverables) {
            (Some(found), _) if !self.is_owned || self.history.matches(&found.state.ledger) => {
                return Ok(Some(found.state.view()));
            }
            (Some(_), _) => foreign_change(project),
            (None, Some(recorded)) => missing_ledger(&project.status_path(), recorded),
            (None, None) => return Ok(None),
        };
        Err(Failure::from(&error))
    }
}

fn foreign_change(project: &Project) -> RepositoryError {
    let message = format!(
        "something other than the run changed {} between two sessions of the run; the change \
         was kept. Put the last ledger of the run back, or end this run and start another one, \
         which accepts the changed ledger",
        project.status_path().display()
    );
    RepositoryError::new(RepositoryErrorKind::ForeignChange, message)
}
