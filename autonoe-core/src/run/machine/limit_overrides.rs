//! [`LimitOverrides`], overrides of a run's limits for one start.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RunFact, RunLimits};
use crate::agent::Budget;
use crate::ledger::LedgerView;
use crate::run::{OnQuota, QuotaBackoff};
use crate::time::duration::millis;

/// Overrides of a run's limits for one start. Limits that are `None` stay unchanged.
///
/// A new run starts with them. On a resumed run they replace the limits of its first start, and its
/// counts continue. A time limit counts from this start, because otherwise the time between the
/// interruption and the resumption would count. The mode of a run cannot be changed.
///
/// ```
/// use autonoe_core::run::{LimitOverrides, RunLimits};
/// use autonoe_core::Mode;
///
/// let started_with = RunLimits { max_iterations: Some(10), ..RunLimits::new(Mode::Run) };
/// let given = LimitOverrides { max_retries: Some(0), ..LimitOverrides::default() };
///
/// let limits = given.over(&started_with);
///
/// assert_eq!((limits.max_iterations, limits.max_retries), (Some(10), 0));
/// assert!(given.changes(&started_with) && !given.changes(&limits));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitOverrides {
    /// Maximum number of iterations, including those before this start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Failed sessions in a row that the run tolerates. One more ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stalled_sessions: Option<u32>,
    /// The reaction to an exceeded quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_quota: Option<OnQuota>,
    /// The backoff that applies when the reset time of the quota is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_backoff: Option<QuotaBackoff>,
    /// The pause between two sessions.
    #[serde(
        rename = "pauseMs",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub pause: Option<Duration>,
    /// The budget: cost and tokens in total, time from this start.
    pub budget: Budget,
}

impl LimitOverrides {
    /// Returns `limits`, replaced by the limits that are set here.
    #[must_use]
    pub fn over(&self, limits: &RunLimits) -> RunLimits {
        RunLimits {
            mode: limits.mode,
            max_iterations: self.max_iterations.or(limits.max_iterations),
            max_retries: self.max_retries.unwrap_or(limits.max_retries),
            max_stalled_sessions: self
                .max_stalled_sessions
                .unwrap_or(limits.max_stalled_sessions),
            on_quota: self.on_quota.unwrap_or(limits.on_quota),
            quota_backoff: self.quota_backoff.unwrap_or(limits.quota_backoff),
            pause: self.pause.unwrap_or(limits.pause),
            budget: Budget {
                cost_usd: self.budget.cost_usd.or(limits.budget.cost_usd),
                tokens: self.budget.tokens.or(limits.budget.tokens),
                time: self.budget.time.or(limits.budget.time),
            },
        }
    }

    /// Returns whether a run under `limits` gets other limits. A time limit always counts as a
    /// change, because its time starts again.
    pub fn changes(&self, limits: &RunLimits) -> bool {
        self.budget.time.is_some() || self.over(limits) != *limits
    }

    /// Returns the fact for a machine under `limits`, or `None` if nothing changes.
    pub(crate) fn as_fact(
        &self,
        limits: &RunLimits,
        at: Timestamp,
        ledger: LedgerView,
    ) -> Option<RunFact> {
        self.changes(limits).then(|| RunFact::LimitsChanged {
            at,
            limits: self.clone(),
            ledger,
        })
    }
}
