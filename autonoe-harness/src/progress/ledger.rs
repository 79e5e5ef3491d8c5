//! What a ledger says of how far a project is.

use std::path::Path;

use autonoe_core::{FileDeliverableRepository, Project};

/// Returns how much of what the ledger of a project asks for has passed, from 0 to 1. A folder
/// without a ledger, or with one that cannot be read, has nothing that passed.
pub(crate) fn passed_share(folder: &Path) -> f64 {
    let Ok(project) = Project::find(folder, None) else {
        return 0.0;
    };
    match FileDeliverableRepository::at(project.status_path()).load_now() {
        Ok(Some(snapshot)) => {
            let counts = snapshot.state.ledger.counts();
            match counts.total {
                0 => 0.0,
                all => counts.passed as f64 / all as f64,
            }
        }
        Ok(None) => 0.0,
        Err(error) => {
            tracing::warn!(%error, "what the ledger says does not count as progress");
            0.0
        }
    }
}
