//! [`SessionReport`], the end of a session with its outcome and statistics.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{BudgetKind, CostTotal, TokenUsage};
use crate::event::Failure;
use crate::text::{MAX_TEXT_LEN, excerpt};
use crate::time::AgentSessionId;
use crate::time::millis;

/// End of a session with its statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionReport {
    /// End of the session.
    #[serde(flatten)]
    pub end: SessionEnd,
    /// Cost of the session; a lower bound if the session did not finish.
    pub cost: CostTotal,
    /// Reported tokens.
    pub tokens: TokenUsage,
    /// Duration of the session.
    #[serde(rename = "durationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// Whether the agent produced any output.
    pub activity: Activity,
    /// The backend's name for the conversation, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSessionId>,
    /// Whether the session changed the ledger or the project.
    #[serde(default, skip_serializing_if = "SessionProgress::is_unknown")]
    pub progress: SessionProgress,
    /// Reason for counting the session as failed although it ended normally, for example because it
    /// planned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<Box<Failure>>,
}

impl fmt::Display for SessionReport {
    /// Describes the end of the session, to follow its name: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = &self.end;
        match &self.flaw {
            None => end.fmt(f),
            Some(flaw) if flaw.code == Failure::NOTHING_PLANNED => {
                write!(f, "{end} without creating deliverables")
            }
            Some(flaw) => write!(f, "{end}, but counts as failed: {flaw}"),
        }
    }
}

impl SessionReport {
    /// Creates the result of a session that ended as `end` before it reached an agent.
    pub fn new(end: SessionEnd) -> Self {
        Self {
            end,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            duration: Duration::ZERO,
            activity: Activity::None,
            agent_session: None,
            progress: SessionProgress::Unknown,
            flaw: None,
        }
    }

    /// Creates the result of a session in which an agent worked and finished its turn at no cost.
    pub fn completed() -> Self {
        Self {
            activity: Activity::Some,
            ..Self::new(SessionEnd::Outcome(SessionOutcome::Completed))
        }
    }

    /// Returns the time at which the quota resets, if an exhausted quota ended the session and the
    /// time is known.
    pub fn quota_resets_at(&self) -> Option<Timestamp> {
        match self.end {
            SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => resets_at,
            _ => None,
        }
    }
}

/// Whether an agent produced any output in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// No text and no tool call.
    None,
    /// Text or a tool call.
    Some,
}

/// Whether a session changed the ledger or the project.
///
/// In [`Mode::Run`](crate::Mode::Run), every ledger change, new commit and changed file is progress. A
/// sync writes no project file, so in [`Mode::Sync`](crate::Mode::Sync) only ledger changes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionProgress {
    /// The session changed something.
    #[serde(rename = "made")]
    Some,
    /// The session changed nothing.
    None,
    /// Progress was not measured, or the measurement failed.
    #[default]
    Unknown,
}

impl SessionProgress {
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// End of a session as reported by the `End` event of the backend.
// Not `non_exhaustive`: each consumer decides about each outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "outcome",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum SessionOutcome {
    /// The agent finished its turn.
    Completed,
    /// The agent failed with an error of its own.
    ExecutionError {
        /// Messages that the agent reported.
        messages: Vec<String>,
    },
    /// The agent reached its limit of turns.
    MaxTurns,
    /// The backend's own budget for the session is exhausted.
    BudgetExceeded,
    /// The quota of the subscription is exhausted.
    QuotaExceeded {
        /// Message of the backend.
        message: String,
        /// Time at which the quota resets, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The turn was interrupted through its control.
    Interrupted,
}

/// End of a session as recorded by the run: the outcome of the backend, or the reason for its
/// absence.
// Not `non_exhaustive`, as `SessionOutcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum SessionEnd {
    /// The backend reported an outcome.
    Outcome(SessionOutcome),
    /// The backend failed, or its stream ended without an outcome.
    Failed {
        /// The failure.
        error: Failure,
    },
    /// The run stopped the session because the budget of the run was exhausted.
    BudgetSpent {
        /// The exhausted part of the budget.
        budget: BudgetKind,
    },
    /// The session was cancelled.
    Cancelled,
}

impl SessionOutcome {
    /// Returns the outcome with texts that are short enough to be stored and sent. Messages that
    /// are too long in total are joined and shortened to one message.
    pub(crate) fn with_short_texts(self) -> Self {
        match self {
            Self::ExecutionError { messages }
                if messages.iter().map(String::len).sum::<usize>() > MAX_TEXT_LEN =>
            {
                Self::ExecutionError {
                    messages: vec![excerpt(messages.join("; "))],
                }
            }
            Self::QuotaExceeded { message, resets_at } => Self::QuotaExceeded {
                message: excerpt(message),
                resets_at,
            },
            short => short,
        }
    }
}

impl fmt::Display for SessionOutcome {
    /// Formats the outcome so that it can follow the name of the session: `completed`, `failed:
    /// ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::MaxTurns => f.write_str("used all of its turns"),
            Self::BudgetExceeded => f.write_str("spent its budget"),
            Self::QuotaExceeded { message, .. } => write!(f, "hit the quota ({message})"),
            Self::Interrupted => f.write_str("was interrupted"),
            Self::ExecutionError { messages } => write!(f, "failed: {}", messages.join("; ")),
        }
    }
}

impl SessionEnd {
    /// Returns whether the agent finished its turn.
    pub fn is_completed(&self) -> bool {
        matches!(self, Self::Outcome(SessionOutcome::Completed))
    }
}

impl fmt::Display for SessionEnd {
    /// Formats the end so that it can follow the name of the session: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome) => outcome.fmt(f),
            Self::Failed { error } => write!(f, "failed: {error}"),
            Self::BudgetSpent { budget } => write!(f, "was stopped: the {budget} budget is spent"),
            Self::Cancelled => f.write_str("was cancelled"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_counts_as_failed_is_not_described_as_completed_alone() {
        for (flaw, expected) in [
            (None, "completed"),
            (
                Some(Failure::retryable(Failure::NOTHING_PLANNED, "no plan")),
                "completed without creating deliverables",
            ),
            (
                Some(Failure::retryable("empty_session", "it did nothing")),
                "completed, but counts as failed: it did nothing",
            ),
        ] {
            let result = SessionReport {
                flaw: flaw.map(Box::new),
                ..SessionReport::completed()
            };
            assert_eq!(result.to_string(), expected);
        }
    }

    #[test]
    fn long_messages_of_an_agent_are_shortened() {
        let long = "x".repeat(MAX_TEXT_LEN);
        let texts = |outcome| match SessionOutcome::with_short_texts(outcome) {
            SessionOutcome::ExecutionError { messages } => messages,
            SessionOutcome::QuotaExceeded { message, .. } => vec![message],
            other => panic!("{other:?}"),
        };
        let reported = |messages: &[&str]| SessionOutcome::ExecutionError {
            messages: messages.iter().map(|&text| text.to_owned()).collect(),
        };
        let quota = SessionOutcome::QuotaExceeded {
            message: format!("{long}."),
            resets_at: None,
        };

        assert_eq!(texts(reported(&["one", "two"])), ["one", "two"]);
        assert_eq!(texts(reported(&[&long])), [long.as_str()]);
        for cut in [texts(quota), texts(reported(&["one", &long, "two"]))] {
            assert_eq!(cut.len(), 1);
            assert!(cut[0].len() <= MAX_TEXT_LEN && cut[0].contains("left out"));
        }
    }

    #[test]
    fn an_end_follows_the_name_of_its_session() {
        let outcome = SessionEnd::Outcome;
        for (end, expected) in [
            (outcome(SessionOutcome::Completed), "completed"),
            (outcome(SessionOutcome::MaxTurns), "used all of its turns"),
            (outcome(SessionOutcome::BudgetExceeded), "spent its budget"),
            (
                outcome(SessionOutcome::QuotaExceeded {
                    message: "You've hit your limit".to_owned(),
                    resets_at: None,
                }),
                "hit the quota (You've hit your limit)",
            ),
            (outcome(SessionOutcome::Interrupted), "was interrupted"),
            (
                outcome(SessionOutcome::ExecutionError {
                    messages: vec!["one".to_owned(), "two".to_owned()],
                }),
                "failed: one; two",
            ),
            (
                SessionEnd::Failed {
                    error: Failure::permanent("crashed", "it crashed"),
                },
                "failed: it crashed",
            ),
            (
                SessionEnd::BudgetSpent {
                    budget: BudgetKind::Cost,
                },
                "was stopped: the cost budget is spent",
            ),
            (SessionEnd::Cancelled, "was cancelled"),
        ] {
            assert_eq!(end.to_string(), expected);
        }
    }
}
