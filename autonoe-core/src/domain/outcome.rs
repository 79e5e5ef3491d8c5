//! How an agent's session ended, in the agent's words and in ours.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::excerpt::{LONGEST_TEXT, excerpt};
use super::{BudgetKind, Failure};

/// How a session ended in the words of the backend: what its `End` event says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "outcome",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum SessionOutcome {
    /// The agent finished its turn.
    Completed,
    /// The agent ran into an error of its own.
    ExecutionError {
        /// What it reported.
        messages: Vec<String>,
    },
    /// The agent used as many turns as it was allowed.
    MaxTurns,
    /// The backend's own budget for the session is spent.
    BudgetExceeded,
    /// The subscription's quota is spent.
    QuotaExceeded {
        /// What the backend said.
        message: String,
        /// When the quota comes back, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The turn was stopped through its control.
    Interrupted,
}

/// How a session ended in our words: the backend's outcome, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEnd {
    /// The backend said how it ended.
    Outcome(SessionOutcome),
    /// The backend failed, or its stream ended without an outcome.
    Failed {
        /// What went wrong.
        error: Failure,
    },
    /// The run's own budget was spent in the middle, so we stopped it.
    BudgetSpent {
        /// Which part of the budget.
        budget: BudgetKind,
    },
    /// We were told to stop it.
    Cancelled,
}

impl SessionOutcome {
    /// Returns it with texts that can be kept and sent. Of messages that are too long together one
    /// is left, of their beginning and their end.
    pub(crate) fn with_short_texts(self) -> Self {
        match self {
            Self::ExecutionError { messages }
                if messages.iter().map(String::len).sum::<usize>() > LONGEST_TEXT =>
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
    /// Says what became of the session, to follow its name: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::MaxTurns => f.write_str("used all of its turns"),
            Self::BudgetExceeded => f.write_str("spent its budget"),
            Self::QuotaExceeded { message, .. } => write!(f, "met the quota ({message})"),
            Self::Interrupted => f.write_str("was interrupted"),
            Self::ExecutionError { messages } => write!(f, "failed: {}", messages.join("; ")),
        }
    }
}

impl SessionEnd {
    /// Tells whether the agent finished its turn.
    pub fn is_completed(&self) -> bool {
        matches!(self, Self::Outcome(SessionOutcome::Completed))
    }
}

impl fmt::Display for SessionEnd {
    /// Says what became of the session, to follow its name: `completed`, `failed: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome) => outcome.fmt(f),
            Self::Failed { error } => write!(f, "failed: {error}"),
            Self::BudgetSpent { budget } => write!(f, "was stopped: the {budget} budget is spent"),
            Self::Cancelled => f.write_str("was interrupted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_reported_at_great_length_is_cut() {
        let long = "x".repeat(LONGEST_TEXT);
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
            assert!(cut[0].len() <= LONGEST_TEXT && cut[0].contains("left out"));
        }
    }

    #[test]
    fn an_end_follows_the_name_of_its_session() {
        let outcome = SessionEnd::Outcome;
        for (end, said) in [
            (outcome(SessionOutcome::Completed), "completed"),
            (outcome(SessionOutcome::MaxTurns), "used all of its turns"),
            (outcome(SessionOutcome::BudgetExceeded), "spent its budget"),
            (
                outcome(SessionOutcome::QuotaExceeded {
                    message: "You've hit your limit".to_owned(),
                    resets_at: None,
                }),
                "met the quota (You've hit your limit)",
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
                "was stopped: the money budget is spent",
            ),
            (SessionEnd::Cancelled, "was interrupted"),
        ] {
            assert_eq!(end.to_string(), said);
        }
    }
}
