//! The limits that a run keeps to.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::duration::millis;
use crate::domain::{Budget, Mode, OnQuota, QuotaBackoff};

/// The limits that a run keeps to.
///
/// ```
/// use autonoe_core::{Mode, RunLimits};
///
/// let limits = RunLimits { max_iterations: Some(10), ..RunLimits::new(Mode::Run) };
///
/// assert_eq!(limits.max_retries, 3);
/// assert_eq!(limits.max_stalled_sessions, 5);
/// assert_eq!(limits.pause.as_secs(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunLimits {
    /// What the run is for.
    pub mode: Mode,
    /// How many sessions may count; `None` is unlimited.
    pub max_iterations: Option<u32>,
    /// How many sessions in a row may fail before the next one that fails ends the run.
    pub max_retries: u32,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    ///
    /// A session that failed or hit the quota neither counts nor resets the count, because other
    /// limits apply to it. [Unknown](crate::SessionProgress::Unknown) progress counts as progress.
    pub max_stalled_sessions: u32,
    /// What to do when the quota is spent.
    pub on_quota: OnQuota,
    /// How to wait when nobody knows when the quota comes back.
    pub quota_backoff: QuotaBackoff,
    /// The pause between two sessions.
    #[serde(rename = "pauseMs", with = "millis")]
    #[schemars(with = "u64")]
    pub pause: Duration,
    /// What may be spent in all.
    pub budget: Budget,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self::new(Mode::Run)
    }
}

impl RunLimits {
    /// Returns the limits that hold unless it is said otherwise.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            max_iterations: None,
            max_retries: 3,
            max_stalled_sessions: 5,
            on_quota: OnQuota::default(),
            quota_backoff: QuotaBackoff::default(),
            pause: Duration::from_secs(3),
            budget: Budget::default(),
        }
    }
}
