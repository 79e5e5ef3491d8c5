//! Why a run ended.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BudgetKind, Failure, Mode, format_time};

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "exitReason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExitReason {
    /// Every deliverable that can be done has passed.
    AllPassed,
    /// Every deliverable is blocked by something outside.
    AllBlocked,
    /// Every deliverable was verified.
    AllVerified,
    /// As many sessions as were allowed have run.
    MaxIterations,
    /// The quota is spent, and the run was not told to wait.
    QuotaExceeded,
    /// The quota is spent, and the next session would start after the end of the time budget.
    QuotaWaitTooLong {
        /// When the quota resets, if the backend reported it.
        #[serde(rename = "resetsAt", default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The money, tokens or time of the run are spent.
    BudgetExceeded {
        /// Which of them.
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
    /// More sessions in a row failed than were allowed.
    MaxRetriesExceeded {
        /// What the last of them failed with.
        error: Failure,
    },
    /// Something went wrong that another try cannot mend.
    Failed {
        /// What went wrong.
        error: Failure,
    },
}

impl ExitReason {
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

    /// Tells whether the run did what it was for.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::AllPassed | Self::AllVerified)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllPassed => f.write_str("all achievable deliverables passed"),
            Self::AllBlocked => f.write_str("all deliverables are blocked"),
            Self::AllVerified => f.write_str("all deliverables were verified"),
            Self::MaxIterations => f.write_str("the maximum number of iterations was reached"),
            Self::QuotaExceeded => f.write_str("the quota is exceeded"),
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
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::MaxRetriesExceeded { error } => {
                write!(
                    f,
                    "too many sessions in a row failed, the last one: {error}"
                )
            }
            Self::Failed { error } => write!(f, "it cannot go on: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stalled_run_reports_how_many_sessions_changed_nothing() {
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
