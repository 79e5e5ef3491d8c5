//! [`StreamEvent`], an item in the stream of an agent.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{CostUsd, SessionOutcome, TokenUsage};
use crate::time::AgentSessionId;
use crate::tool::ToolStatus;

/// An item in the stream of an agent. The first is `Started`, the last is `End`.
///
/// Backends create events with the functions of the same names, so that fields can be added later.
///
/// ```
/// use autonoe_core::agent::SessionOutcome;
/// use autonoe_core::StreamEvent;
///
/// let text_event = StreamEvent::text("hello").by_agent("reviewer");
/// let end_event = StreamEvent::end(SessionOutcome::Completed, None);
///
/// assert!(matches!(text_event, StreamEvent::Text { text, .. } if text == "hello"));
/// assert!(matches!(end_event, StreamEvent::End { outcome: SessionOutcome::Completed, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The agent has started and accepted the prompt.
    #[serde(rename = "stream_started")]
    #[non_exhaustive]
    Started {
        /// The backend's name for the conversation.
        session: AgentSessionId,
        /// The model that answers, if reported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent produced text.
    #[serde(rename = "stream_text")]
    #[non_exhaustive]
    Text {
        /// Text of the agent.
        text: String,
        /// The sub-agent that produced it; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The agent produced thinking.
    #[serde(rename = "stream_thinking")]
    #[non_exhaustive]
    Thinking {
        /// Thinking of the agent.
        text: String,
        /// The sub-agent that produced it; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The agent requests a tool call. The gate decides about it afterwards.
    #[serde(rename = "stream_tool_invocation")]
    #[non_exhaustive]
    ToolInvocation {
        /// Matches the call with its response.
        call_id: String,
        /// Name of the tool, in the backend's spelling.
        name: String,
        /// Input of the call.
        input: Value,
        /// The sub-agent that requests the call; `None` for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A tool call ended: it succeeded, failed or was denied.
    #[serde(rename = "stream_tool_response")]
    #[non_exhaustive]
    ToolResponse {
        /// Id of the call.
        call_id: String,
        /// Output that the agent received.
        output: String,
        /// Status at the end of the call.
        status: ToolStatus,
    },
    /// Usage since the last event of this kind; all of them add up.
    #[serde(rename = "stream_usage")]
    #[non_exhaustive]
    Usage {
        /// Tokens since the last report.
        tokens: TokenUsage,
        /// Cost since the last report, if the backend knows it.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
    /// The provider reported the state of the quota.
    #[serde(rename = "stream_rate_limit")]
    #[non_exhaustive]
    RateLimit {
        /// State of the quota.
        #[serde(flatten)]
        limit: RateLimit,
    },
    /// A problem occurred that does not end the session.
    #[serde(rename = "stream_warning")]
    #[non_exhaustive]
    Warning {
        /// Description of the problem.
        message: String,
    },
    /// The session is over, and all of its tasks have ended.
    #[serde(rename = "stream_end")]
    #[non_exhaustive]
    End {
        /// End of the session.
        #[serde(flatten)]
        outcome: SessionOutcome,
        /// Cost of the whole query; `None` is unknown, not zero.
        #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
        cost: Option<CostUsd>,
    },
}

impl StreamEvent {
    /// Creates a [`Started`](Self::Started) event.
    pub fn started(session: AgentSessionId, model: Option<String>) -> Self {
        Self::Started { session, model }
    }

    /// Creates a [`Text`](Self::Text) event of the main agent.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Text { text, agent: None }
    }

    /// Creates a [`Thinking`](Self::Thinking) event of the main agent.
    pub fn thinking(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Thinking { text, agent: None }
    }

    /// Creates a [`ToolInvocation`](Self::ToolInvocation) event of the main agent.
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

    /// Creates a [`ToolResponse`](Self::ToolResponse) event.
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

    /// Creates a [`Usage`](Self::Usage) event. A cost of `None` is unknown.
    pub fn usage(tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        Self::Usage { tokens, cost }
    }

    /// Creates a [`RateLimit`](Self::RateLimit) event.
    pub fn rate_limit(limit: RateLimit) -> Self {
        Self::RateLimit { limit }
    }

    /// Creates a [`Warning`](Self::Warning) event.
    pub fn warning(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Warning { message }
    }

    /// Creates an [`End`](Self::End) event.
    pub fn end(outcome: SessionOutcome, cost: Option<CostUsd>) -> Self {
        Self::End { outcome, cost }
    }

    /// Sets the sub-agent that produced the event.
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

/// State of a quota, as reported by the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Whether calls still succeed.
    pub status: RateLimitStatus,
    /// Name of the limit, for example `five_hour`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Time at which the quota resets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// Used part of the quota, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u8>,
}

/// Whether calls to a provider still succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// Enough quota is left.
    Allowed,
    /// Little quota is left.
    Warning,
    /// The quota is exhausted.
    Rejected,
}
