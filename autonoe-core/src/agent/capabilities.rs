//! [`Capabilities`], the features that a backend declares.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::SessionField;
use crate::tool::ServerReach;

/// Features of a backend. A run checks them before it starts and refuses unsafe combinations.
///
/// A backend must honour each field of a [`SessionSpec`](crate::SessionSpec) that it claims here,
/// and refuse every other one;
/// [`SessionSpec::refuse_unclaimed`](crate::SessionSpec::refuse_unclaimed) does the latter.
///
/// ```
/// use autonoe_core::agent::{HookCoverage, Support};
/// use autonoe_core::Capabilities;
///
/// let capabilities = Capabilities::new("my-agent")
///     .with_version("1.2.0")
///     .with_hooks(HookCoverage::EveryTool)
///     .with_in_process_tools(Support::Yes);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Capabilities {
    /// Name of the backend, for humans.
    pub backend: String,
    /// Version of the program or service behind the backend, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Calls that the backend submits to Autonoe's hooks.
    pub hooks: HookCoverage,
    /// Whether the backend can run its tools in its own OS sandbox.
    pub sandbox: Support,
    /// Reason for the lack of a sandbox on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_problem: Option<String>,
    /// Whether the backend starts its agents only in the sandbox that a run requests with
    /// [`OuterSandbox::bubblewrap`](crate::agent::OuterSandbox::bubblewrap).
    #[serde(default = "no")]
    pub outer_sandbox: Support,
    /// Whether the backend reports the cost of a session.
    pub cost: Support,
    /// Reporting times of the tokens that a session used.
    #[serde(default)]
    pub tokens: TokenReports,
    /// Whether the backend reports when an exhausted quota resets.
    pub quota_reset: Support,
    /// Whether the backend can resume an earlier conversation.
    pub resume: Support,
    /// Whether the backend can resume a conversation of a session with the same
    /// [`SessionSpec::conversations`](crate::SessionSpec::conversations).
    #[serde(default = "no")]
    pub conversation_dir: Support,
    /// Whether a session can choose its model.
    #[serde(default = "no")]
    pub model: Support,
    /// Whether a session can set the system prompt.
    #[serde(default = "no")]
    pub system_prompt: Support,
    /// Whether a session can set the thinking effort of the agent.
    #[serde(default = "no")]
    pub thinking: Support,
    /// Whether a session can limit its turns.
    #[serde(default = "no")]
    pub max_turns: Support,
    /// Whether the backend connects its agents to the MCP servers of a session.
    #[serde(default = "no")]
    pub mcp_servers: Support,
    /// Whether a session can hide the memory files of the project from the agent.
    #[serde(default = "no")]
    pub project_memory_off: Support,
    /// Instructions to configure the backend for a session field that it does not claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remedies: BTreeMap<SessionField, String>,
    /// Whether the backend hosts Autonoe's tools in-process; otherwise they need a
    /// [`ToolServer`](crate::tool::ToolServer).
    pub in_process_tools: Support,
    /// Connection of the backend to that server.
    #[serde(default)]
    pub tool_server: ServerReach,
    /// Whether a running turn accepts further messages.
    pub steering: Support,
    /// Events that only the backend can emit.
    #[serde(default)]
    pub events: EventCapabilities,
}

impl Capabilities {
    /// Creates the capabilities of a backend without any optional feature.
    pub fn new(backend: impl Into<String>) -> Self {
        Self {
            backend: backend.into(),
            version: None,
            hooks: HookCoverage::None,
            sandbox: Support::No,
            sandbox_problem: None,
            outer_sandbox: Support::No,
            cost: Support::No,
            tokens: TokenReports::None,
            quota_reset: Support::No,
            resume: Support::No,
            conversation_dir: Support::No,
            model: Support::No,
            system_prompt: Support::No,
            thinking: Support::No,
            max_turns: Support::No,
            mcp_servers: Support::No,
            project_memory_off: Support::No,
            remedies: BTreeMap::new(),
            in_process_tools: Support::No,
            tool_server: ServerReach::Address,
            steering: Support::No,
            events: EventCapabilities::default(),
        }
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets which calls the backend submits to Autonoe's hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookCoverage) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets whether the backend has its own sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Support) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets the reason for the lack of a sandbox on this machine.
    #[must_use]
    pub fn with_sandbox_problem(mut self, problem: impl Into<String>) -> Self {
        self.sandbox_problem = Some(problem.into());
        self
    }

    /// Sets whether the backend starts its agents in the outer sandbox that a run requests.
    #[must_use]
    pub fn with_outer_sandbox(mut self, outer_sandbox: Support) -> Self {
        self.outer_sandbox = outer_sandbox;
        self
    }

    /// Sets whether the backend reports the cost of a session.
    #[must_use]
    pub fn with_cost(mut self, cost: Support) -> Self {
        self.cost = cost;
        self
    }

    /// Sets when the backend reports the tokens that a session used.
    #[must_use]
    pub fn with_tokens(mut self, tokens: TokenReports) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets whether the backend reports when an exhausted quota resets.
    #[must_use]
    pub fn with_quota_reset(mut self, quota_reset: Support) -> Self {
        self.quota_reset = quota_reset;
        self
    }

    /// Sets whether the backend can resume an earlier conversation.
    #[must_use]
    pub fn with_resume(mut self, resume: Support) -> Self {
        self.resume = resume;
        self
    }

    /// Sets whether the backend can resume the conversations in
    /// [`SessionSpec::conversations`](crate::SessionSpec::conversations).
    #[must_use]
    pub fn with_conversation_dir(mut self, conversation_dir: Support) -> Self {
        self.conversation_dir = conversation_dir;
        self
    }

    /// Returns the capabilities for sessions that have a directory for conversations.
    #[must_use]
    pub(crate) fn for_conversation_dir(mut self) -> Self {
        if self.conversation_dir.is_yes() {
            self.resume = Support::Yes;
        }
        self
    }

    /// Sets the advice on how to configure the backend so that it supports `field`, which it does
    /// not claim.
    ///
    /// The refusal of the field includes this advice. Without it, the advice is to omit the field
    /// or to use another backend.
    #[must_use]
    pub fn with_remedy(mut self, field: SessionField, remedy: impl Into<String>) -> Self {
        self.remedies.insert(field, remedy.into());
        self
    }

    /// Sets whether a session can choose its model.
    #[must_use]
    pub fn with_model(mut self, model: Support) -> Self {
        self.model = model;
        self
    }

    /// Sets whether a session can set the system prompt.
    #[must_use]
    pub fn with_system_prompt(mut self, system_prompt: Support) -> Self {
        self.system_prompt = system_prompt;
        self
    }

    /// Sets whether a session can set the thinking effort of the agent.
    #[must_use]
    pub fn with_thinking(mut self, thinking: Support) -> Self {
        self.thinking = thinking;
        self
    }

    /// Sets whether a session can limit its turns.
    #[must_use]
    pub fn with_max_turns(mut self, max_turns: Support) -> Self {
        self.max_turns = max_turns;
        self
    }

    /// Sets whether the backend connects its agents to the MCP servers of a session.
    #[must_use]
    pub fn with_mcp_servers(mut self, mcp_servers: Support) -> Self {
        self.mcp_servers = mcp_servers;
        self
    }

    /// Sets whether a session can hide the memory files of the project from the agent.
    #[must_use]
    pub fn with_project_memory_off(mut self, project_memory_off: Support) -> Self {
        self.project_memory_off = project_memory_off;
        self
    }

    /// Sets whether the backend hosts Autonoe's tools in-process.
    #[must_use]
    pub fn with_in_process_tools(mut self, in_process_tools: Support) -> Self {
        self.in_process_tools = in_process_tools;
        self
    }

    /// Sets how the backend connects to the server of Autonoe's tools.
    #[must_use]
    pub fn with_tool_server(mut self, tool_server: ServerReach) -> Self {
        self.tool_server = tool_server;
        self
    }

    /// Sets whether a running turn accepts further messages.
    #[must_use]
    pub fn with_steering(mut self, steering: Support) -> Self {
        self.steering = steering;
        self
    }

    /// Sets which events the backend emits.
    #[must_use]
    pub fn with_events(mut self, events: EventCapabilities) -> Self {
        self.events = events;
        self
    }
}

/// Events that only the backend can emit, through
/// [`SessionSpec::events`](crate::SessionSpec::events).
///
/// For every backend, observers receive the prompts and answers of an agent and its tool calls.
///
/// ```
/// use autonoe_core::agent::{Support, EventCapabilities};
///
/// let events = EventCapabilities::default().with_model_calls(Support::Yes);
///
/// assert!(!events.model_chunks.is_yes());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EventCapabilities {
    /// Whether the backend emits each model call, with its end and its usage.
    pub model_calls: Support,
    /// Whether the backend emits the answers of models in chunks.
    pub model_chunks: Support,
    /// Whether the backend emits progress during long operations.
    pub progress: Support,
}

impl EventCapabilities {
    /// Sets whether the backend emits each model call.
    #[must_use]
    pub fn with_model_calls(mut self, support: Support) -> Self {
        self.model_calls = support;
        self
    }

    /// Sets whether the backend emits the answers of models in chunks.
    #[must_use]
    pub fn with_model_chunks(mut self, support: Support) -> Self {
        self.model_chunks = support;
        self
    }

    /// Sets whether the backend emits progress.
    #[must_use]
    pub fn with_progress(mut self, support: Support) -> Self {
        self.progress = support;
        self
    }
}

impl Default for EventCapabilities {
    /// Returns a value without any events.
    fn default() -> Self {
        Self {
            model_calls: Support::No,
            model_chunks: Support::No,
            progress: Support::No,
        }
    }
}

/// Tool calls that a backend submits to Autonoe's hooks before they run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HookCoverage {
    /// No calls: hooks are ineffective.
    None,
    /// Only calls for which the agent requests permission.
    Partial,
    /// Every call, without exception.
    EveryTool,
}

/// Reporting times of the tokens that a session used, as
/// [`StreamEvent::Usage`](crate::StreamEvent::Usage).
///
/// A token limit is enforced as soon as tokens are reported: in the middle of a session, or only
/// before the next one.
///
/// ```
/// use autonoe_core::agent::TokenReports;
/// use autonoe_core::Capabilities;
///
/// let capabilities = Capabilities::new("my-agent").with_tokens(TokenReports::EachTurn);
///
/// assert!(capabilities.tokens > TokenReports::None);
/// ```
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TokenReports {
    /// Never, or not reliably: token limits cannot be enforced.
    #[default]
    None,
    /// At the end of a turn. The usage of a failed turn may stay unknown.
    EachTurn,
    /// After each call of the model.
    EachCall,
}

/// Whether a backend supports a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Supported.
    Yes,
    /// Not supported.
    No,
}

impl Support {
    /// Returns whether the feature is supported.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

/// Default of capabilities that are missing in the input.
fn no() -> Support {
    Support::No
}
