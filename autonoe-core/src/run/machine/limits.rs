//! [`RunLimits`], the limits of a run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::Budget;
use crate::run::{OnQuota, QuotaBackoff};
use crate::time::Mode;
use crate::time::duration::millis;

/// The limits of a run.
///
/// ```
/// use autonoe_core::run::RunLimits;
/// use autonoe_core::Mode;
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
    /// The mode of the run.
    pub mode: Mode,
    /// Maximum number of iterations; `None` is unlimited.
    pub max_iterations: Option<u32>,
    /// Failed sessions in a row that the run tolerates. One more ends it.
    pub max_retries: u32,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    ///
    /// A session that failed or hit the quota neither counts nor resets the count, because other
    /// limits apply to it. [Unknown](crate::agent::SessionProgress::Unknown) progress counts as progress.
    pub max_stalled_sessions: u32,
    /// The reaction to an exceeded quota.
    pub on_quota: OnQuota,
    /// The backoff that applies when the reset time of the quota is unknown.
    pub quota_backoff: QuotaBackoff,
    /// The pause between two sessions.
    #[serde(rename = "pauseMs", with = "millis")]
    #[schemars(with = "u64")]
    pub pause: Duration,
    /// The total budget.
    pub budget: Budget,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self::new(Mode::Run)
    }
}

impl RunLimits {
    /// Returns the default limits.
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
