//! What a backend can do, honestly graded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionField;

/// What a backend can do. A run looks before it starts and refuses what is not safe.
///
/// A backend must honour each field of a [`SessionSpec`](super::SessionSpec) that it claims here, and
/// refuse each other one; [`SessionSpec::refuse_unclaimed`](super::SessionSpec::refuse_unclaimed)
/// does the latter.
///
/// ```
/// use autonoe_core::{Capabilities, HookCoverage, Support};
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
    /// Names the backend, for people.
    pub backend: String,
    /// The version of what is behind it, when it can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Which calls it asks our hooks about.
    pub hooks: HookCoverage,
    /// Whether it can keep its tools in an OS sandbox of its own.
    pub sandbox: Support,
    /// Why the backend has no sandbox on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_problem: Option<String>,
    /// Whether it starts its agents in the sandbox that a run asks for by
    /// [`OuterSandbox::bubblewrap`](super::OuterSandbox::bubblewrap), or does not start them.
    #[serde(default = "no")]
    pub outer_sandbox: Support,
    /// Whether it reports what a session cost.
    pub cost: Support,
    /// When it tells how many tokens a session used.
    #[serde(default)]
    pub tokens: TokenReports,
    /// Whether it tells when a spent quota comes back.
    pub quota_reset: Support,
    /// Whether it can resume an earlier conversation.
    pub resume: Support,
    /// Whether it can resume a conversation of a session with the same
    /// [`SessionSpec::conversations`](super::SessionSpec::conversations).
    #[serde(default = "no")]
    pub conversation_dir: Support,
    /// Whether a session can choose its model.
    #[serde(default = "no")]
    pub model: Support,
    /// Whether a session can set the system prompt.
    #[serde(default = "no")]
    pub system_prompt: Support,
    /// Whether a session can set how much the agent thinks.
    #[serde(default = "no")]
    pub thinking: Support,
    /// Whether a session can limit its turns.
    #[serde(default = "no")]
    pub max_turns: Support,
    /// Whether it connects its agents to the MCP servers of a session.
    #[serde(default = "no")]
    pub mcp_servers: Support,
    /// Whether a session can keep the memory files of the project from the agent.
    #[serde(default = "no")]
    pub project_memory_off: Support,
    /// How to set the backend up so that it supports a field of a session that it does not claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remedies: BTreeMap<SessionField, String>,
    /// Whether it takes our tools as they are; otherwise they need a
    /// [`ToolServer`](super::ToolServer).
    pub in_process_tools: Support,
    /// How it reaches that server.
    #[serde(default)]
    pub tool_server: ServerReach,
    /// Whether a running turn can be told more.
    pub steering: Support,
    /// What it tells of what only it knows.
    #[serde(default)]
    pub events: ToldEvents,
}

impl Capabilities {
    /// Makes the capabilities of a backend that can do nothing special.
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
            events: ToldEvents::default(),
        }
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets which calls it asks our hooks about.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookCoverage) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets whether it has a sandbox of its own.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Support) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets the reason why the backend has no sandbox of its own on this machine.
    #[must_use]
    pub fn with_sandbox_problem(mut self, problem: impl Into<String>) -> Self {
        self.sandbox_problem = Some(problem.into());
        self
    }

    /// Sets whether it starts its agents in the outer sandbox that a run asks for.
    #[must_use]
    pub fn with_outer_sandbox(mut self, outer_sandbox: Support) -> Self {
        self.outer_sandbox = outer_sandbox;
        self
    }

    /// Sets whether it reports what a session cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Support) -> Self {
        self.cost = cost;
        self
    }

    /// Sets when it tells how many tokens a session used.
    #[must_use]
    pub fn with_tokens(mut self, tokens: TokenReports) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets whether it tells when a spent quota comes back.
    #[must_use]
    pub fn with_quota_reset(mut self, quota_reset: Support) -> Self {
        self.quota_reset = quota_reset;
        self
    }

    /// Sets whether it can resume an earlier conversation.
    #[must_use]
    pub fn with_resume(mut self, resume: Support) -> Self {
        self.resume = resume;
        self
    }

    /// Sets whether it can resume the conversations in
    /// [`SessionSpec::conversations`](super::SessionSpec::conversations).
    #[must_use]
    pub fn with_conversation_dir(mut self, conversation_dir: Support) -> Self {
        self.conversation_dir = conversation_dir;
        self
    }

    /// Returns the capabilities for sessions that have a directory for conversations.
    #[must_use]
    pub(crate) fn given_conversation_dir(mut self) -> Self {
        if self.conversation_dir.is_yes() {
            self.resume = Support::Yes;
        }
        self
    }

    /// Sets how to set the backend up so that it supports `field`, which it does not claim.
    ///
    /// The refusal of the field has this remedy. Without it, the remedy is to leave the field out or
    /// to use another backend.
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

    /// Sets whether a session can set how much the agent thinks.
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

    /// Sets whether it connects its agents to the MCP servers of a session.
    #[must_use]
    pub fn with_mcp_servers(mut self, mcp_servers: Support) -> Self {
        self.mcp_servers = mcp_servers;
        self
    }

    /// Sets whether a session can keep the memory files of the project from the agent.
    #[must_use]
    pub fn with_project_memory_off(mut self, project_memory_off: Support) -> Self {
        self.project_memory_off = project_memory_off;
        self
    }

    /// Sets whether it takes our tools as they are.
    #[must_use]
    pub fn with_in_process_tools(mut self, in_process_tools: Support) -> Self {
        self.in_process_tools = in_process_tools;
        self
    }

    /// Sets how it reaches the server of our tools.
    #[must_use]
    pub fn with_tool_server(mut self, tool_server: ServerReach) -> Self {
        self.tool_server = tool_server;
        self
    }

    /// Sets whether a running turn can be told more.
    #[must_use]
    pub fn with_steering(mut self, steering: Support) -> Self {
        self.steering = steering;
        self
    }

    /// Sets what it tells of what only it knows.
    #[must_use]
    pub fn with_events(mut self, events: ToldEvents) -> Self {
        self.events = events;
        self
    }
}

/// What a backend tells of what only it knows, through
/// [`SessionSpec::events`](super::SessionSpec::events).
///
/// What an agent is told, says and answers, and which tools it calls, observers learn from every
/// backend.
///
/// ```
/// use autonoe_core::{Support, ToldEvents};
///
/// let told = ToldEvents::default().with_model_calls(Support::Yes);
///
/// assert!(!told.model_chunks.is_yes());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToldEvents {
    /// Whether each call of a model is told, with its end and what it used.
    pub model_calls: Support,
    /// Whether the answers of models are told piece by piece.
    pub model_chunks: Support,
    /// Whether it says what goes on while that takes a while.
    pub progress: Support,
}

impl ToldEvents {
    /// Sets whether each call of a model is told.
    #[must_use]
    pub fn with_model_calls(mut self, told: Support) -> Self {
        self.model_calls = told;
        self
    }

    /// Sets whether the answers of models are told piece by piece.
    #[must_use]
    pub fn with_model_chunks(mut self, told: Support) -> Self {
        self.model_chunks = told;
        self
    }

    /// Sets whether it says what goes on.
    #[must_use]
    pub fn with_progress(mut self, told: Support) -> Self {
        self.progress = told;
        self
    }
}

impl Default for ToldEvents {
    /// Nothing is told.
    fn default() -> Self {
        Self {
            model_calls: Support::No,
            model_chunks: Support::No,
            progress: Support::No,
        }
    }
}

/// Which tool calls a backend asks our hooks about before they run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HookCoverage {
    /// None: hooks guard nothing.
    None,
    /// Only those that the agent chooses to ask about.
    AskedOnly,
    /// Every call, without exception.
    EveryTool,
}

/// How a backend reaches the MCP server of our tools, where it does not take them as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerReach {
    /// By its address on this machine.
    #[default]
    Address,
    /// Only by a command that its agents start, and that speaks on its pipes.
    Command,
}

/// When a backend tells how many tokens a session used, as
/// [`StreamEvent::Usage`](crate::StreamEvent::Usage).
///
/// A limit of tokens is kept as soon as they are told: in the middle of a session, or only before
/// the next one.
///
/// ```
/// use autonoe_core::{Capabilities, TokenReports};
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
    /// It does not, or nobody knows whether it will: no limit of tokens can be kept.
    #[default]
    None,
    /// When a turn has ended. What a turn used that failed may stay unknown.
    EachTurn,
    /// After each call of the model.
    EachCall,
}

/// Whether a backend can do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot.
    No,
}

impl Support {
    /// Tells whether it can.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

/// What is said of those that say nothing.
fn no() -> Support {
    Support::No
}
