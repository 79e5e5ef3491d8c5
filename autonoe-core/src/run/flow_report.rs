//! [`FlowReport`], the result of a flow's sessions.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{BudgetKind, CostTotal, SessionEnd, SessionOutcome, TokenUsage};
use crate::event::Failure;
use crate::run::ExitClass;
use crate::run::report::write_effort;
use crate::time::RunId;
use crate::time::millis;

/// The result of a flow's sessions.
///
/// A flow is a run whose caller decides which session comes next; see
/// [`Sessions`](crate::Sessions). Its `Display` is a short summary for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FlowReport {
    /// The run.
    pub run: RunId,
    /// The name of the flow.
    pub flow: String,
    /// The reason why it ended.
    #[serde(flatten)]
    pub exit: FlowExit,
    /// The sessions that were started, including those before an interruption.
    pub sessions: u32,
    /// The duration of the flow, including waits.
    #[serde(rename = "totalDurationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub elapsed: Duration,
    /// The cost of its sessions.
    #[serde(rename = "totalCost")]
    pub cost: CostTotal,
    /// The tokens they used.
    pub tokens: TokenUsage,
    /// Messages that no agent has read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered_messages: Vec<String>,
}

impl fmt::Display for FlowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Flow {} ({}) ended: {}", self.flow, self.run, self.exit)?;
        write_effort(f, (self.sessions, "session"), self.elapsed, self.cost)
    }
}

/// The reason why a flow ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "exitReason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowExit {
    /// The flow reached its goal.
    Completed,
    /// The quota is exceeded, and the flow is not configured to wait.
    QuotaExceeded,
    /// The cost, token or time budget is spent.
    BudgetExceeded {
        /// The spent budget.
        budget: BudgetKind,
    },
    /// The flow was cancelled.
    Interrupted,
    /// An error that the flow could not recover from.
    Failed {
        /// The error.
        error: Failure,
    },
}

impl FlowExit {
    /// Returns a stable name for programs, for example `completed`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::QuotaExceeded => "quota_exceeded",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::Interrupted => "interrupted",
            Self::Failed { .. } => "failed",
        }
    }

    /// Returns the class of the reason.
    pub fn class(&self) -> ExitClass {
        match self {
            Self::Completed => ExitClass::Success,
            Self::QuotaExceeded => ExitClass::Quota,
            Self::BudgetExceeded { .. } => ExitClass::Budget,
            Self::Interrupted => ExitClass::Interrupted,
            Self::Failed { .. } => ExitClass::Failed,
        }
    }

    /// Returns the error that ended the flow; `None` if something else ended it.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { error } => Some(error),
            Self::Completed
            | Self::QuotaExceeded
            | Self::BudgetExceeded { .. }
            | Self::Interrupted => None,
        }
    }

    /// Returns whether the flow reached its goal.
    pub fn is_success(&self) -> bool {
        self.class() == ExitClass::Success
    }
}

/// The exit of a flow of one session.
impl From<&SessionEnd> for FlowExit {
    fn from(end: &SessionEnd) -> Self {
        match end {
            SessionEnd::Outcome(SessionOutcome::Completed) => Self::Completed,
            SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) => Self::QuotaExceeded,
            SessionEnd::Outcome(
                SessionOutcome::ExecutionError { .. }
                | SessionOutcome::MaxTurns
                | SessionOutcome::BudgetExceeded
                | SessionOutcome::Interrupted,
            ) => Self::Failed {
                error: Failure::retryable("session_not_completed", end.to_string()),
            },
            SessionEnd::BudgetSpent { budget } => Self::BudgetExceeded { budget: *budget },
            SessionEnd::Cancelled => Self::Interrupted,
            SessionEnd::Failed { error } => Self::Failed {
                error: error.clone(),
            },
        }
    }
}

/// The end of a session that did not start because its flow has ended.
impl From<&FlowExit> for SessionEnd {
    fn from(exit: &FlowExit) -> Self {
        match exit {
            FlowExit::QuotaExceeded => Self::Outcome(SessionOutcome::QuotaExceeded {
                message: exit.to_string(),
                resets_at: None,
            }),
            FlowExit::BudgetExceeded { budget } => Self::BudgetSpent { budget: *budget },
            FlowExit::Interrupted => Self::Cancelled,
            FlowExit::Failed { error } => Self::Failed {
                error: error.clone(),
            },
            FlowExit::Completed => Self::Failed {
                error: Failure::permanent("not_started", exit.to_string()),
            },
        }
    }
}

impl fmt::Display for FlowExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("it is complete"),
            Self::QuotaExceeded => f.write_str("the quota is spent"),
            Self::BudgetExceeded { budget } => write!(f, "the {budget} budget is spent"),
            Self::Interrupted => f.write_str("it was cancelled"),
            Self::Failed { error } => write!(f, "it cannot continue: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_did_not_start_has_the_class_of_its_flow() {
        for exit in [
            FlowExit::QuotaExceeded,
            FlowExit::BudgetExceeded {
                budget: BudgetKind::Tokens,
            },
            FlowExit::Interrupted,
            FlowExit::Failed {
                error: Failure::permanent("crashed", "it crashed"),
            },
        ] {
            let end = SessionEnd::from(&exit);

            assert_eq!(FlowExit::from(&end), exit);
        }

        // A session that did not start has not completed.
        let end = SessionEnd::from(&FlowExit::Completed);
        assert!(matches!(end, SessionEnd::Failed { .. }), "{end:?}");
    }
}
