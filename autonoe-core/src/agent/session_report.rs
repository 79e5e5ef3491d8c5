//! [`SessionReport`], the end of a session with its statistics.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{CostTotal, SessionEnd, SessionOutcome, TokenUsage};
use crate::event::Failure;
use crate::time::AgentSessionId;
use crate::time::duration::millis;

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
    Made,
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
}
