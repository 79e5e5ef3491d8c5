//! What is known of a session after it ended.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::millis;
use super::{AgentSessionId, CostTotal, SessionEnd, SessionOutcome, TokenUsage};

/// What is known of a session after it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionResult {
    /// How it ended.
    #[serde(flatten)]
    pub end: SessionEnd,
    /// What it cost; a lower bound if it broke off.
    pub cost: CostTotal,
    /// The tokens that were reported.
    pub tokens: TokenUsage,
    /// How long it took.
    #[serde(rename = "durationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// Whether the agent said or did anything.
    pub activity: Activity,
    /// The backend's name of the conversation, when it told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSessionId>,
}

impl SessionResult {
    /// Makes the result of a session that ended as `end` before it reached an agent.
    pub fn new(end: SessionEnd) -> Self {
        Self {
            end,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            duration: Duration::ZERO,
            activity: Activity::None,
            agent_session: None,
        }
    }

    /// Makes the result of a session in which an agent worked and finished its turn, for nothing.
    pub fn completed() -> Self {
        Self {
            activity: Activity::Some,
            ..Self::new(SessionEnd::Outcome(SessionOutcome::Completed))
        }
    }

    /// Returns when the quota comes back, if that is what ended the session and it is known.
    pub fn quota_resets_at(&self) -> Option<Timestamp> {
        match self.end {
            SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => resets_at,
            _ => None,
        }
    }
}

/// Whether an agent said or did anything in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// No text and no tool call.
    None,
    /// Text or a tool call.
    Some,
}
