//! [`ExitReason`], the reason why a run ended.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::BudgetKind;
use crate::event::Failure;
use crate::time::{Mode, format_time};

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "exitReason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExitReason {
    /// Every achievable deliverable has passed.
    AllPassed,
    /// Every deliverable is blocked by an external cause.
    AllBlocked,
    /// Every deliverable was verified.
    AllVerified,
    /// The run reached its maximum number of iterations.
    MaxIterations,
    /// The quota is exceeded, and the run is not configured to wait.
    QuotaExceeded,
    /// The quota is exceeded, and the next session would start after the end of the time budget.
    QuotaWaitTooLong {
        /// Time at which the quota resets, if the backend reported it.
        #[serde(rename = "resetsAt", default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The cost, token or time budget of the run is spent.
    BudgetExceeded {
        /// The spent budget.
        budget: BudgetKind,
    },
    /// Too many sessions in a row made no progress.
    Stalled {
        /// The number of sessions in a row without progress.
        #[serde(rename = "stalledSessions")]
        sessions: u32,
        /// The mode of the run, which decides what counts as progress.
        mode: Mode,
    },
    /// The run was cancelled.
    Interrupted,
    /// More sessions in a row failed than allowed.
    MaxRetriesExceeded {
        /// The error of the last failed session.
        error: Failure,
    },
    /// An error that a retry cannot fix.
    Failed {
        /// The error.
        error: Failure,
    },
}

/// The class of an [`ExitReason`] or a [`FlowExit`](super::FlowExit), for exit codes and the like.
///
/// It is exhaustive: a new reason gets one of these classes, or each program that maps them decides
/// about a new class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitClass {
    /// The run reached its goal.
    Success,
    /// An error that a retry cannot fix.
    Failed,
    /// Every deliverable is blocked.
    Blocked,
    /// The maximum number of iterations was reached.
    Iterations,
    /// The quota is exceeded.
    Quota,
    /// A budget is spent.
    Budget,
    /// Too many sessions in a row failed.
    Retries,
    /// Too many sessions in a row made no progress.
    Stalled,
    /// The run was cancelled.
    Interrupted,
}

impl ExitReason {
    /// Returns the class of the reason.
    ///
    /// ```
    /// use autonoe_core::ExitReason;
    /// use autonoe_core::run::ExitClass;
    ///
    /// assert_eq!(ExitReason::AllVerified.class(), ExitClass::Success);
    /// ```
    pub fn class(&self) -> ExitClass {
        match self {
            Self::AllPassed | Self::AllVerified => ExitClass::Success,
            Self::AllBlocked => ExitClass::Blocked,
            Self::MaxIterations => ExitClass::Iterations,
            Self::QuotaExceeded | Self::QuotaWaitTooLong { .. } => ExitClass::Quota,
            Self::BudgetExceeded { .. } => ExitClass::Budget,
            Self::Stalled { .. } => ExitClass::Stalled,
            Self::Interrupted => ExitClass::Interrupted,
            Self::MaxRetriesExceeded { .. } => ExitClass::Retries,
            Self::Failed { .. } => ExitClass::Failed,
        }
    }

    /// Returns a stable name for programs, for example `all_passed`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AllPassed => "all_passed",
            Self::AllBlocked => "all_blocked",
            Self::AllVerified => "all_verified",
            Self::MaxIterations => "max_iterations",
            Self::QuotaExceeded => "quota_exceeded",
            Self::QuotaWaitTooLong { .. } => "quota_wait_too_long",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::Stalled { .. } => "stalled",
            Self::Interrupted => "interrupted",
            Self::MaxRetriesExceeded { .. } => "max_retries_exceeded",
            Self::Failed { .. } => "failed",
        }
    }

    /// Returns the error that ended the run; `None` if something else ended it.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { error } | Self::MaxRetriesExceeded { error } => Some(error),
            Self::AllPassed
            | Self::AllBlocked
            | Self::AllVerified
            | Self::MaxIterations
            | Self::QuotaExceeded
            | Self::QuotaWaitTooLong { .. }
            | Self::BudgetExceeded { .. }
            | Self::Stalled { .. }
            | Self::Interrupted => None,
        }
    }

    /// Returns whether the run reached its goal.
    pub fn is_success(&self) -> bool {
        self.class() == ExitClass::Success
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllPassed => f.write_str("all achievable deliverables passed"),
            Self::AllBlocked => f.write_str("all deliverables are blocked"),
            Self::AllVerified => f.write_str("all deliverables were verified"),
            Self::MaxIterations => f.write_str("the maximum number of iterations was reached"),
            Self::QuotaExceeded => f.write_str("the quota is spent"),
            Self::QuotaWaitTooLong {
                resets_at: Some(reset),
            } => {
                let reset = format_time(*reset);
                write!(
                    f,
                    "the quota resets at {reset}; the next session would start after the end of \
                     the time budget"
                )
            }
            Self::QuotaWaitTooLong { resets_at: None } => f.write_str(
                "the quota is spent; the next session would start after the end of the time budget",
            ),
            Self::BudgetExceeded { budget } => write!(f, "the {budget} budget is spent"),
            Self::Stalled { sessions, mode } => {
                match sessions {
                    1 => f.write_str("the last session ")?,
                    sessions => write!(f, "the last {sessions} sessions ")?,
                }
                f.write_str(match mode {
                    Mode::Run => "changed nothing: no deliverable, no commit, no file",
                    Mode::Sync => "changed nothing: no deliverable was verified or updated",
                })
            }
            Self::Interrupted => f.write_str("it was cancelled"),
            Self::MaxRetriesExceeded { error } => {
                write!(
                    f,
                    "too many sessions in a row failed, the last one: {error}"
                )
            }
            Self::Failed { error } => write!(f, "it cannot continue: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stalled_run_reports_the_number_of_sessions_without_progress() {
        for (sessions, mode, text) in [
            (
                5,
                Mode::Run,
                "the last 5 sessions changed nothing: no deliverable, no commit, no file",
            ),
            (
                1,
                Mode::Sync,
                "the last session changed nothing: no deliverable was verified or updated",
            ),
        ] {
            assert_eq!(ExitReason::Stalled { sessions, mode }.to_string(), text);
        }
    }
}
