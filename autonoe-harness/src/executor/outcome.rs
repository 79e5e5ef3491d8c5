//! Outcome of an execution.

use std::fmt;

use autonoe_core::agent::{Activity, BudgetKind, SessionEnd, SessionOutcome, SessionReport};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::run::FlowExit;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "end",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum ExecutionOutcome {
    /// The backend reported that the agent finished its turn. The only success.
    Completed,
    /// The execution exceeded its time limit and was stopped.
    TimedOut {
        /// The time limit in seconds.
        after_seconds: u64,
    },
    /// The execution was cancelled.
    Cancelled,
    /// The quota of the subscription is exhausted.
    QuotaExceeded {
        /// The message of the backend.
        message: String,
        /// The time at which the quota resets, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The agent used all of its turns.
    MaxTurns,
    /// A budget is spent.
    BudgetSpent {
        /// The kind of budget; `None` for a limit of the backend itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetKind>,
    },
    /// The agent or its backend failed, or could not start.
    Failed {
        /// The failure.
        #[serde(rename = "failure")]
        error: Failure,
    },
}

/// Codes of failures caused by the session and not by its backend. Waiting does not help against
/// them.
const SESSION_FAILURES: [&str; 2] = ["empty_session", "execution_error"];

impl ExecutionOutcome {
    /// Returns whether the backend failed in a way that may pass with time.
    pub(crate) fn is_transient(&self) -> bool {
        let Self::Failed { error } = self else {
            return false;
        };
        error.retry != Retry::Permanent && !SESSION_FAILURES.contains(&error.code.as_str())
    }

    /// Maps the end of a session to the outcome of a task with this time limit. Only the backend's
    /// own event counts, never a claim of the agent.
    pub(super) fn from_session(result: &SessionReport, timeout_seconds: u64) -> Self {
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
        }
    }

    /// Maps the reason why a session did not start.
    pub(super) fn not_started(exit: &FlowExit, timeout_seconds: u64) -> Self {
        Self::from_session(&SessionReport::new(exit.into()), timeout_seconds)
    }
}

impl fmt::Display for ExecutionOutcome {
    /// Formats the outcome as a predicate: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::TimedOut { after_seconds } => {
                write!(f, "timed out after {after_seconds} seconds")
            }
            Self::Cancelled => f.write_str("was cancelled"),
            Self::QuotaExceeded { message, .. } => write!(f, "hit the quota ({message})"),
            Self::MaxTurns => f.write_str("reached its turn limit"),
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
    fn failures_of_a_session_do_not_pass_with_time() {
        let failed = |error| ExecutionOutcome::Failed { error };
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
            (ExecutionOutcome::MaxTurns, false),
        ] {
            assert_eq!(end.is_transient(), may_pass, "{end:?}");
        }
    }

    #[test]
    fn a_session_that_does_not_start_has_the_reason_of_its_flow() {
        let spent = |budget| FlowExit::BudgetExceeded { budget };
        for (exit, expected) in [
            (
                FlowExit::QuotaExceeded,
                "hit the quota (the quota is spent)",
            ),
            (spent(BudgetKind::Time), "timed out after 60 seconds"),
            (
                spent(BudgetKind::Cost),
                "was stopped: the cost budget is spent",
            ),
            (FlowExit::Interrupted, "was cancelled"),
            (
                FlowExit::Failed {
                    error: Failure::permanent("crashed", "it crashed"),
                },
                "failed: it crashed",
            ),
            (FlowExit::Completed, "failed: it is complete"),
        ] {
            let outcome = ExecutionOutcome::not_started(&exit, 60);

            assert_eq!(outcome.to_string(), expected);
        }
    }

    #[test]
    fn only_a_finished_turn_with_something_in_it_is_completed() {
        let outcome = SessionEnd::Outcome;
        let spent = |budget| SessionEnd::BudgetSpent { budget };
        for (end, activity, expected) in [
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
                "reached its turn limit",
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
                "timed out after 60 seconds",
            ),
            (
                spent(BudgetKind::Cost),
                Activity::Some,
                "was stopped: the cost budget is spent",
            ),
            (
                SessionEnd::Failed {
                    error: Failure::permanent("crashed", "it crashed"),
                },
                Activity::Some,
                "failed: it crashed",
            ),
        ] {
            let mut result = SessionReport::new(end);
            result.activity = activity;

            let end = ExecutionOutcome::from_session(&result, 60);

            assert_eq!(end.to_string(), expected);
            assert_eq!(end == ExecutionOutcome::Completed, expected == "completed");
        }
    }
}
