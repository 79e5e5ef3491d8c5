//! What an agent's stream carries.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentSessionId, CostUsd, SessionOutcome, TokenUsage};

/// What an agent's stream carries: first `Started`, last `End`.
///
/// Backends make events with the functions of the same names, so that an event
/// can get another field later.
///
/// ```
/// use autonoe_core::{SessionOutcome, StreamEvent};
///
/// let said = StreamEvent::text("hello").by_agent("reviewer");
/// let over = StreamEvent::end(SessionOutcome::Completed, None);
///
/// assert!(matches!(said, StreamEvent::Text { text, .. } if text == "hello"));
/// assert!(matches!(over, StreamEvent::End { outcome: SessionOutcome::Completed, .. }));
/// ```
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
    #[non_exhaustive]
    Started {
        /// The backend's name of the conversation.
        session: AgentSessionId,
        /// The model that answers, when the backend tells it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent said something.
    #[serde(rename = "stream_text")]
    #[non_exhaustive]
    Text {
        /// What it said.
        text: String,
        /// The sub-agent that did; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The agent thought aloud.
    #[serde(rename = "stream_thinking")]
    #[non_exhaustive]
    Thinking {
        /// What it thought.
        text: String,
        /// The sub-agent that did; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The agent wants to use a tool. Whether it may is decided after this.
    #[serde(rename = "stream_tool_invocation")]
    #[non_exhaustive]
    ToolInvocation {
        /// Pairs the call with its response.
        call_id: String,
        /// The tool, in the backend's spelling.
        name: String,
        /// What it was called with.
        input: Value,
        /// The sub-agent that did; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A tool call ended: it ran, failed or was refused.
    #[serde(rename = "stream_tool_response")]
    #[non_exhaustive]
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
    #[non_exhaustive]
    Usage {
        /// The tokens since the last report.
        tokens: TokenUsage,
        /// The cost since the last report, when the backend knows it.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
    /// The provider said how much of the quota is left.
    #[serde(rename = "stream_rate_limit")]
    #[non_exhaustive]
    RateLimit {
        /// What it said.
        #[serde(flatten)]
        limit: RateLimit,
    },
    /// Something went wrong that the agent goes on from.
    #[serde(rename = "stream_warning")]
    #[non_exhaustive]
    Warning {
        /// What went wrong.
        message: String,
    },
    /// The session is over: no task of it lives any more.
    #[serde(rename = "stream_end")]
    #[non_exhaustive]
    End {
        /// How it ended.
        #[serde(flatten)]
        outcome: SessionOutcome,
        /// What the whole query cost; `None` is unknown, not zero.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
}

impl StreamEvent {
    /// The agent is there and has taken the prompt.
    pub fn started(session: AgentSessionId, model: Option<String>) -> Self {
        Self::Started { session, model }
    }

    /// The agent said `text`.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Text { text, agent: None }
    }

    /// The agent thought `text`.
    pub fn thinking(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Thinking { text, agent: None }
    }

    /// The agent wants to use a tool.
    pub fn tool_invocation(
        call_id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        Self::ToolInvocation {
            call_id: call_id.into(),
            name: name.into(),
            input,
            agent: None,
        }
    }

    /// A tool call ended.
    pub fn tool_response(
        call_id: impl Into<String>,
        output: impl Into<String>,
        status: ToolStatus,
    ) -> Self {
        Self::ToolResponse {
            call_id: call_id.into(),
            output: output.into(),
            status,
        }
    }

    /// Tokens were used, at a cost that may be known.
    pub fn usage(tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        Self::Usage { tokens, cost }
    }

    /// The provider said how much of the quota is left.
    pub fn rate_limit(limit: RateLimit) -> Self {
        Self::RateLimit { limit }
    }

    /// Something went wrong that the agent goes on from.
    pub fn warning(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Warning { message }
    }

    /// The session is over.
    pub fn end(outcome: SessionOutcome, cost: Option<CostUsd>) -> Self {
        Self::End { outcome, cost }
    }

    /// Says which sub-agent spoke, thought or called.
    #[must_use]
    pub fn by_agent(mut self, name: impl Into<String>) -> Self {
        if let Self::Text { agent, .. }
        | Self::Thinking { agent, .. }
        | Self::ToolInvocation { agent, .. } = &mut self
        {
            *agent = Some(name.into());
        }
        self
    }
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
