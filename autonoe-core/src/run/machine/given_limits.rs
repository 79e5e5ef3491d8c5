//! Limits that somebody gives for this start of a run.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RunFact, RunLimits};
use crate::domain::duration::millis;
use crate::domain::{Budget, LedgerView, OnQuota, QuotaBackoff};

/// Limits that somebody gives for this start of a run; those that are `None` are left as they are.
///
/// A new run starts with them. An interrupted run is resumed with them: they replace the
/// limits that it was started with, and its counts continue. A limit of time counts
/// from this start, because the time in which nobody worked on the run would count otherwise.
/// What a run is for cannot be changed.
///
/// ```
/// use autonoe_core::{GivenLimits, Mode, RunLimits};
///
/// let started_with = RunLimits { max_iterations: Some(10), ..RunLimits::new(Mode::Run) };
/// let given = GivenLimits { max_retries: Some(0), ..GivenLimits::default() };
///
/// let limits = given.over(&started_with);
///
/// assert_eq!((limits.max_iterations, limits.max_retries), (Some(10), 0));
/// assert!(given.changes(&started_with) && !given.changes(&limits));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GivenLimits {
    /// How many sessions may count, those before this start included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// How many sessions in a row may fail before the next one that fails ends the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stalled_sessions: Option<u32>,
    /// What to do when the quota is spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_quota: Option<OnQuota>,
    /// How to wait when nobody knows when the quota comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_backoff: Option<QuotaBackoff>,
    /// The pause between two sessions.
    #[serde(
        rename = "pauseMs",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub pause: Option<Duration>,
    /// What may be spent: money and tokens in all, time from this start.
    pub budget: Budget,
}

impl GivenLimits {
    /// Returns `limits` with those in their place that are given.
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

    /// Tells whether a run under `limits` goes on under others. Time counts anew, so it always does.
    pub fn changes(&self, limits: &RunLimits) -> bool {
        self.budget.time.is_some() || self.over(limits) != *limits
    }

    /// Returns what a machine under `limits` is to be told, if these are new to it.
    pub(in crate::run) fn as_fact(
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
