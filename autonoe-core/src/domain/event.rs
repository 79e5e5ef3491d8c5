//! What an agent's stream carries.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentSessionId, CostUsd, SessionOutcome, TokenUsage};

/// What an agent's stream carries: first `Started`, last `End`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The agent is there and has taken the prompt.
    #[serde(rename = "stream_started")]
    Started {
        /// The backend's name of the conversation.
        session: AgentSessionId,
        /// The model that answers, when the backend tells it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent said something.
    #[serde(rename = "stream_text")]
    Text {
        /// What it said.
        text: String,
    },
    /// The agent thought aloud.
    #[serde(rename = "stream_thinking")]
    Thinking {
        /// What it thought.
        text: String,
    },
    /// The agent wants to use a tool. Whether it may is decided after this.
    #[serde(rename = "stream_tool_invocation")]
    ToolInvocation {
        /// Pairs the call with its response.
        call_id: String,
        /// The tool, in the backend's spelling.
        name: String,
        /// What it was called with.
        input: Value,
    },
    /// A tool call ended: it ran, failed or was refused.
    #[serde(rename = "stream_tool_response")]
    ToolResponse {
        /// The call that this answers.
        call_id: String,
        /// What the agent was given.
        output: String,
        /// How the call ended.
        status: ToolStatus,
    },
    /// What was used since the last event of this kind; all of them add up.
    #[serde(rename = "stream_usage")]
    Usage {
        /// The tokens since the last report.
        tokens: TokenUsage,
        /// The cost since the last report, when the backend knows it.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
    /// The provider said how much of the quota is left.
    #[serde(rename = "stream_rate_limit")]
    RateLimit {
        /// What it said.
        #[serde(flatten)]
        limit: RateLimit,
    },
    /// Something went wrong that the agent goes on from.
    #[serde(rename = "stream_warning")]
    Warning {
        /// What went wrong.
        message: String,
    },
    /// The session is over: no task of it lives any more.
    #[serde(rename = "stream_end")]
    End {
        /// How it ended.
        #[serde(flatten)]
        outcome: SessionOutcome,
        /// What the whole query cost; `None` is unknown, not zero.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// The tool ran and succeeded.
    Ok,
    /// The tool ran and failed.
    Error,
    /// The call was refused and did not run.
    Denied,
}

/// How much of a quota is left, in the words of the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Whether calls still get through.
    pub status: RateLimitStatus,
    /// Which limit it is, for example `five_hour`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// When it comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// How much is used, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u8>,
}

/// Whether calls to a provider still get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// There is enough left.
    Allowed,
    /// Little is left.
    Warning,
    /// Nothing is left.
    Rejected,
}
