//! How an execution ended.

use std::fmt;

use autonoe_core::{
    Activity, BudgetKind, Failure, FlowExit, Retry, SessionEnd, SessionOutcome, SessionResult,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "end",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum ExecutionEnd {
    /// The backend said that the agent finished its turn. The only success.
    Completed,
    /// Its time was up, and it was stopped.
    TimedOut {
        /// How many seconds it had.
        after_seconds: u64,
    },
    /// We were told to stop it.
    Cancelled,
    /// The quota of the subscription is spent.
    QuotaExceeded {
        /// What the backend said.
        message: String,
        /// When it comes back, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The agent used as many turns as it was allowed.
    MaxTurns,
    /// A budget is spent.
    BudgetSpent {
        /// Which part of it; `None` for a budget of the backend's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetKind>,
    },
    /// The agent or its backend failed, or could not begin.
    Failed {
        /// What went wrong.
        #[serde(rename = "failure")]
        error: Failure,
    },
}

/// Failures that came of the session and not of its backend. To wait helps against none of them.
const OF_THE_SESSION: [&str; 3] = ["empty_session", "execution_error", "unknown_end"];

impl ExecutionEnd {
    /// Tells whether the backend failed in a way that may be over at another time.
    pub(crate) fn may_pass(&self) -> bool {
        let Self::Failed { error } = self else {
            return false;
        };
        error.retry != Retry::Useless && !OF_THE_SESSION.contains(&error.code.as_str())
    }

    /// Says what the end of a session means for a task with so many seconds. Only the backend's
    /// own event counts, and never what the agent said.
    pub(super) fn of(result: &SessionResult, timeout_seconds: u64) -> Self {
        let failed = |code: &str, message: String| Self::Failed {
            error: Failure::retryable(code, message),
        };
        match &result.end {
            SessionEnd::Outcome(SessionOutcome::Completed) => match result.activity {
                Activity::None => failed(
                    "empty_session",
                    "the agent ended without saying or doing anything".to_owned(),
                ),
                Activity::Some => Self::Completed,
            },
            SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
                let message = match messages.as_slice() {
                    [] => "the agent reported an error without a message".to_owned(),
                    messages => messages.join("; "),
                };
                failed("execution_error", message)
            }
            SessionEnd::Outcome(SessionOutcome::MaxTurns) => Self::MaxTurns,
            SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => {
                Self::BudgetSpent { budget: None }
            }
            SessionEnd::Outcome(SessionOutcome::QuotaExceeded { message, resets_at }) => {
                Self::QuotaExceeded {
                    message: message.clone(),
                    resets_at: *resets_at,
                }
            }
            SessionEnd::Outcome(SessionOutcome::Interrupted) | SessionEnd::Cancelled => {
                Self::Cancelled
            }
            SessionEnd::BudgetSpent {
                budget: BudgetKind::Time,
            } => Self::TimedOut {
                after_seconds: timeout_seconds,
            },
            SessionEnd::BudgetSpent { budget } => Self::BudgetSpent {
                budget: Some(*budget),
            },
            SessionEnd::Failed { error } => Self::Failed {
                error: error.clone(),
            },
            _ => failed(
                "unknown_end",
                "the session ended in a way that is not known here".to_owned(),
            ),
        }
    }

    /// Says what it means that a session did not begin.
    pub(super) fn not_begun(exit: FlowExit, timeout_seconds: u64) -> Self {
        match exit {
            FlowExit::Interrupted => Self::Cancelled,
            FlowExit::BudgetExceeded {
                budget: BudgetKind::Time,
            } => Self::TimedOut {
                after_seconds: timeout_seconds,
            },
            FlowExit::BudgetExceeded { budget } => Self::BudgetSpent {
                budget: Some(budget),
            },
            FlowExit::Failed { error } => Self::Failed { error },
            other => Self::Failed {
                error: Failure::permanent("not_begun", other.to_string()),
            },
        }
    }
}

impl fmt::Display for ExecutionEnd {
    /// Says what became of it, to follow its name: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::TimedOut { after_seconds } => {
                write!(f, "was stopped: its {after_seconds} seconds were over")
            }
            Self::Cancelled => f.write_str("was cancelled"),
            Self::QuotaExceeded { message, .. } => write!(f, "met the quota ({message})"),
            Self::MaxTurns => f.write_str("used all of its turns"),
            Self::BudgetSpent { budget: None } => f.write_str("spent its budget"),
            Self::BudgetSpent {
                budget: Some(budget),
            } => write!(f, "was stopped: the {budget} budget is spent"),
            Self::Failed { error } => write!(f, "failed: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_session_does_not_pass_by_itself() {
        let failed = |error| ExecutionEnd::Failed { error };
        for (end, may_pass) in [
            (failed(Failure::retryable("network", "no answer")), true),
            (failed(Failure::permanent("authentication", "no")), false),
            (
                failed(Failure::retryable("execution_error", "it broke")),
                false,
            ),
            (
                failed(Failure::retryable("empty_session", "nothing")),
                false,
            ),
            (ExecutionEnd::MaxTurns, false),
        ] {
            assert_eq!(end.may_pass(), may_pass, "{end:?}");
        }
    }

    #[test]
    fn only_a_finished_turn_with_something_in_it_is_completed() {
        let outcome = SessionEnd::Outcome;
        let spent = |budget| SessionEnd::BudgetSpent { budget };
        for (end, activity, said) in [
            (
                outcome(SessionOutcome::Completed),
                Activity::Some,
                "completed",
            ),
            (
                outcome(SessionOutcome::Completed),
                Activity::None,
                "failed: the agent ended without saying or doing anything",
            ),
            (
                outcome(SessionOutcome::ExecutionError { messages: vec![] }),
                Activity::Some,
                "failed: the agent reported an error without a message",
            ),
            (
                outcome(SessionOutcome::ExecutionError {
                    messages: vec!["one".into(), "two".into()],
                }),
                Activity::Some,
                "failed: one; two",
            ),
            (
                outcome(SessionOutcome::MaxTurns),
                Activity::Some,
                "used all of its turns",
            ),
            (
                outcome(SessionOutcome::BudgetExceeded),
                Activity::Some,
                "spent its budget",
            ),
            (
                outcome(SessionOutcome::Interrupted),
                Activity::Some,
                "was cancelled",
            ),
            (SessionEnd::Cancelled, Activity::Some, "was cancelled"),
            (
                spent(BudgetKind::Time),
                Activity::Some,
                "was stopped: its 60 seconds were over",
            ),
            (
                spent(BudgetKind::Cost),
                Activity::Some,
                "was stopped: the money budget is spent",
            ),
            (
                SessionEnd::Failed {
                    error: Failure::permanent("crashed", "it crashed"),
                },
                Activity::Some,
                "failed: it crashed",
            ),
        ] {
            let mut result = SessionResult::new(end);
            result.activity = activity;

            let end = ExecutionEnd::of(&result, 60);

            assert_eq!(end.to_string(), said);
            assert_eq!(end == ExecutionEnd::Completed, said == "completed");
        }
    }
}
