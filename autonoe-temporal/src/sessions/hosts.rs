//! Who carries out the sessions of a run, on a worker.

use std::sync::Arc;

use autonoe_core::{Failure, RunId, SessionHost};

use super::SessionsRun;

/// Finds what carries out the sessions of a run here.
///
/// It is asked for each step of a run, and must give something that stands on the same state each
/// time, also in the next process: a project directory, for example.
pub trait SessionHosts: Send + Sync {
    /// Returns what carries out the sessions of a run.
    ///
    /// # Errors
    ///
    /// What it works on is not here. If another try may help, another host is asked; else the run
    /// has failed.
    fn of(&self, run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure>;
}
