//! What a flow machine is told.

use std::collections::BTreeMap;

use autonoe_core::{AgentSessionId, BudgetKind, CostTotal, TokenUsage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::failure::FlowFailure;
use super::limits::FlowLimits;
use crate::check::ToolOutcome;
use crate::progress::Signal;

/// Something that happened, told to a [`FlowMachine`](super::FlowMachine).
///
/// The journal of a flow is its facts, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum FlowFact {
    /// The flow begins.
    Started {
        /// When.
        at: Timestamp,
        /// The limits that it keeps to.
        #[serde(default)]
        limits: FlowLimits,
    },
    /// What came of a prompt.
    Prompted {
        /// When.
        at: Timestamp,
        /// The iteration that it was sent for.
        iteration: u64,
        /// What came of it.
        outcome: PromptOutcome,
        /// What it took.
        #[serde(default)]
        spent: Expense,
    },
    /// What a check of a step found, or why it found nothing.
    Checked {
        /// When.
        at: Timestamp,
        /// What it found.
        verdict: Result<CheckVerdict, FlowFailure>,
        /// What it took.
        #[serde(default)]
        spent: Expense,
    },
    /// The model that was to judge a step could not: the service behind it asks to wait.
    CheckLimited {
        /// When.
        at: Timestamp,
        /// Until when, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
        /// What it took.
        #[serde(default)]
        spent: Expense,
    },
    /// What the completion of the flow found, or why it found nothing.
    CompletionChecked {
        /// When.
        at: Timestamp,
        /// What it found.
        verdict: Result<CompletionVerdict, FlowFailure>,
    },
    /// Whether somebody outside was told of a failure.
    Notified {
        /// When.
        at: Timestamp,
        /// Why not, if not.
        result: Result<(), FlowFailure>,
    },
    /// A wait that the machine asked for is over. Too early is not over.
    WaitOver {
        /// When.
        at: Timestamp,
    },
    /// An interrupted flow is resumed under other limits. What it has spent stays spent.
    LimitsChanged {
        /// All of them.
        limits: FlowLimits,
    },
    /// The prompt or the check that was under way was lost with the process that ran it.
    Lost {
        /// What it took, as far as the journal tells; `None` if nobody knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Expense>,
    },
    /// A person stops the flow.
    Cancelled {
        /// When.
        at: Timestamp,
    },
    /// The flow cannot continue. Whether it can be resumed depends on the kind of the failure.
    Failed {
        /// When.
        at: Timestamp,
        /// Why.
        failure: FlowFailure,
    },
    /// A stopped flow is resumed. The time since its stop does not count.
    Resumed {
        /// When.
        at: Timestamp,
    },
}

/// What came of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "outcome",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum PromptOutcome {
    /// The agent came to its end.
    Answered(Answer),
    /// The agent failed. What it said before is not trusted.
    Failed {
        /// Why.
        failure: FlowFailure,
    },
    /// The service behind the agent asks to wait. It is no iteration: the prompt is sent again.
    RateLimited {
        /// Until when, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The agent was stopped because the budget of the flow is spent.
    BudgetSpent {
        /// Which part of it.
        budget: BudgetKind,
    },
    /// The agent was stopped because a person stops the flow.
    Cancelled,
}

/// What an agent answered.
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
    /// The signals that the agent gave, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// The tool calls, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ToolOutcome>,
}

impl Answer {
    /// Makes an answer of a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckVerdict {
    /// Whether the step passed.
    pub passed: bool,
    /// Why, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the completion of a flow found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionVerdict {
    /// Why the flow is complete; `None` if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<String>,
    /// What each condition of a composite found, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, bool>,
}

/// What a session took: money and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Expense {
    /// Money.
    pub cost: CostTotal,
    /// Tokens.
    pub tokens: TokenUsage,
}

impl Expense {
    /// Adds another.
    pub fn merge(&mut self, other: Self) {
        self.cost.merge(other.cost);
        self.tokens += other.tokens;
    }

    /// Returns what this is more than another.
    pub(crate) fn beyond(self, other: Self) -> Self {
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
