//! What a run that is driven session by session is to do.

use autonoe_core::{RunId, RunLimits, RunSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of runs that a [`TemporalEngine`](crate::TemporalEngine) drives session by session. All
/// other kinds are one piece of work for a [`JobRunner`](autonoe_core::JobRunner).
pub const SESSIONS_JOB: &str = "sessions";

/// A run that is driven session by session: the server remembers each of them, and a long wait for
/// quota holds no worker.
///
/// ```
/// use autonoe_core::{Mode, RunId, RunLimits};
/// use autonoe_temporal::{SESSIONS_JOB, SessionsRun};
/// use serde_json::json;
///
/// let run = SessionsRun::new(json!({"folder": "shop"}), RunLimits::new(Mode::Run));
/// let spec = run.named(RunId::new("shop-1"))?;
///
/// assert_eq!(spec.job, SESSIONS_JOB);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionsRun {
    /// What the sessions work on, for the [`SessionHosts`](crate::SessionHosts) of workers.
    #[serde(default)]
    pub work: Value,
    /// The limits that the run keeps to.
    #[serde(default)]
    pub limits: RunLimits,
}

impl SessionsRun {
    /// Makes a run of what it works on and its limits.
    pub fn new(work: Value, limits: RunLimits) -> Self {
        Self { work, limits }
    }

    /// Makes what is submitted of it.
    ///
    /// # Errors
    ///
    /// It cannot be written as JSON.
    pub fn named(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, SESSIONS_JOB, serde_json::to_value(self)?))
    }
}
