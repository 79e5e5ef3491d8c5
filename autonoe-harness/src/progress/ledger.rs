//! Counts of a project's ledger.

use std::path::Path;

use autonoe_core::{FileDeliverableRepository, LedgerCounts, Project};

/// Returns the counts of the ledger of a project; `None` if the folder has no ledger, or one that
/// cannot be read.
pub(crate) fn ledger_counts(folder: &Path) -> Option<LedgerCounts> {
    let project = Project::find(folder, None).ok()?;
    match FileDeliverableRepository::at(project.status_path()).load_now() {
        Ok(snapshot) => Some(snapshot?.state.ledger.counts()),
        Err(error) => {
            tracing::warn!(%error, "the ledger cannot be read and does not count as progress");
            None
        }
    }
}
