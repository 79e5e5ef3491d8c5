//! [`FlowFact`]: an input of the flow machine, and [`FlowLimits`]: the limits of a flow.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::agent::{BudgetKind, CostTotal, SessionReport, TokenUsage};
use autonoe_core::run::QuotaBackoff;
use autonoe_core::time::{AgentSessionId, backoff};
use autonoe_core::{Budget, OnQuota};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::failure::FlowFailure;
use crate::check::{CheckVerdict, ToolOutcome};
use crate::definition::Backoff;
use crate::progress::AgentSignal;

/// An input of a [`FlowMachine`](super::FlowMachine).
///
/// The journal of a flow consists of its facts, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum FlowFact {
    /// The flow starts.
    Started {
        /// The time.
        at: Timestamp,
        /// The limits of the flow.
        #[serde(default)]
        limits: FlowLimits,
    },
    /// The result of a prompt.
    Prompted {
        /// The time.
        at: Timestamp,
        /// The iteration of the prompt.
        iteration: u64,
        /// The outcome.
        outcome: PromptOutcome,
        /// Cost and tokens.
        #[serde(default)]
        spent: SessionUsage,
    },
    /// The backend cannot continue the conversation of a prompt, and the agent has done nothing. The
    /// prompt is sent again in a new conversation, under the same iteration.
    ConversationLost {
        /// The time.
        at: Timestamp,
        /// The iteration of the prompt.
        iteration: u64,
        /// The reason.
        failure: FlowFailure,
        /// Cost and tokens.
        #[serde(default)]
        spent: SessionUsage,
    },
    /// The result of a step's check, or the reason why it has none.
    Checked {
        /// The time.
        at: Timestamp,
        /// The verdict.
        verdict: Result<CheckVerdict, FlowFailure>,
        /// Cost and tokens.
        #[serde(default)]
        spent: SessionUsage,
    },
    /// The model could not judge a step, because its service reported a rate limit.
    CheckLimited {
        /// The time.
        at: Timestamp,
        /// The reset time, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
        /// Cost and tokens.
        #[serde(default)]
        spent: SessionUsage,
    },
    /// The result of a completion check, or the reason why it has none.
    CompletionChecked {
        /// The time.
        at: Timestamp,
        /// The verdict.
        verdict: Result<CompletionVerdict, FlowFailure>,
    },
    /// The result of a notification.
    Notified {
        /// The time.
        at: Timestamp,
        /// The reason, if it failed.
        result: Result<(), FlowFailure>,
    },
    /// A requested wait is over. A time before its end is ignored.
    WaitOver {
        /// The time.
        at: Timestamp,
    },
    /// An interrupted flow is resumed with other limits. Its expenses so far still count.
    LimitsChanged {
        /// All limits.
        limits: FlowLimits,
    },
    /// The prompt or check in progress was lost with its process.
    Lost {
        /// Cost and tokens, as far as the journal contains them; `None` if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<SessionUsage>,
    },
    /// An operator stops the flow.
    Cancelled {
        /// The time.
        at: Timestamp,
    },
    /// The flow cannot continue. The kind of the failure decides whether it can be resumed.
    Failed {
        /// The time.
        at: Timestamp,
        /// The reason.
        failure: FlowFailure,
    },
    /// A stopped flow is resumed. The time since its stop does not count.
    Resumed {
        /// The time.
        at: Timestamp,
    },
}

/// The outcome of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "outcome",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum PromptOutcome {
    /// The agent finished.
    Answered(Answer),
    /// The agent failed. Its output so far is not trusted.
    Failed {
        /// The reason.
        failure: FlowFailure,
    },
    /// The service of the agent reported a rate limit. It does not count as an iteration: the
    /// prompt is sent again.
    RateLimited {
        /// The reset time, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The agent was stopped because the budget of the flow is exhausted.
    BudgetSpent {
        /// The exhausted part of the budget.
        budget: BudgetKind,
    },
    /// The agent was stopped because an operator stops the flow.
    Cancelled,
}

/// The answer of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Answer {
    /// The text parts.
    pub text: String,
    /// The conversation, if the next prompt can continue it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSessionId>,
    /// The outputs that the agent set.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
    /// The signals that the agent sent, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<AgentSignal>,
    /// The tool calls, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ToolOutcome>,
}

impl Answer {
    /// Creates an answer that consists of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// The verdict of a completion check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionVerdict {
    /// Reason for the completion; `None` if the flow is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<String>,
    /// The result of each condition of a composite, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, bool>,
}

/// Cost and tokens of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionUsage {
    /// Money.
    pub cost: CostTotal,
    /// Tokens.
    pub tokens: TokenUsage,
}

impl From<&SessionReport> for SessionUsage {
    fn from(session: &SessionReport) -> Self {
        Self {
            cost: session.cost,
            tokens: session.tokens,
        }
    }
}

impl SessionUsage {
    /// Adds the usage of another session.
    pub fn merge(&mut self, other: Self) {
        self.cost.merge(other.cost);
        self.tokens += other.tokens;
    }

    /// Returns the difference to `other`, at least zero.
    pub(crate) fn saturating_sub(self, other: Self) -> Self {
        let (all, part) = (self.tokens, other.tokens);
        Self {
            cost: CostTotal {
                known_usd: self.cost.known_usd.saturating_sub(other.cost.known_usd),
                unknown_parts: (self.cost.unknown_parts).saturating_sub(other.cost.unknown_parts),
            },
            tokens: TokenUsage {
                input: all.input.saturating_sub(part.input),
                output: all.output.saturating_sub(part.output),
                cache_read: all.cache_read.saturating_sub(part.cache_read),
                cache_write: all.cache_write.saturating_sub(part.cache_write),
                reasoning: all.reasoning.saturating_sub(part.reasoning),
            },
        }
    }
}

/// The limits of a flow beside those of its definition.
///
/// ```
/// use autonoe_core::{Budget, CostUsd, OnQuota};
/// use autonoe_flow::FlowLimits;
///
/// let limits = FlowLimits {
///     budget: Budget::default().with_cost(CostUsd::from_cents(500)),
///     on_quota: OnQuota::Wait,
///     ..FlowLimits::default()
/// };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlowLimits {
    /// The budget of the whole flow, including the sessions of checks.
    pub budget: Budget,
    /// The reaction to a rate limit of the agent's service.
    pub on_quota: OnQuota,
    /// The backoff for rate limits without a reset time.
    pub quota_backoff: QuotaBackoff,
}

impl Backoff {
    /// Returns the wait before retry number `retry`, counted from 1.
    pub fn wait(&self, retry: u32) -> Duration {
        let [first, longest] = [self.initial_ms, self.max_ms].map(Duration::from_millis);
        backoff(first, longest, retry)
    }
}

/// Adds a duration to a time; saturates at [`Timestamp::MAX`].
pub(super) fn later(time: Timestamp, duration: Duration) -> Timestamp {
    SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Returns the time from `from` to `to`, or zero if `to` is earlier.
pub(super) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_each_time_up_to_its_limit() {
        let backoff = Backoff::default();

        let waits = [1, 2, 3, 5, 6, 7, 100].map(|retry| backoff.wait(retry).as_millis());

        assert_eq!(waits, [1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000]);
    }
}
