//! [`SessionHosts`]: finds the session hosts of a worker.

use std::sync::Arc;

use autonoe_core::RunId;
use autonoe_core::engine::SessionHost;
use autonoe_core::event::Failure;

use super::SessionsRun;

/// Finds the session host of a run on this worker.
///
/// It is called for each step of a run, and must return a host with the same state each time, also
/// in the next process: a project directory, for example.
pub trait SessionHosts: Send + Sync {
    /// Returns the session host of a run.
    ///
    /// # Errors
    ///
    /// The project of the run is not on this host. If the failure is retryable, another host is
    /// asked; otherwise the run has failed.
    fn find(&self, run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure>;
}
