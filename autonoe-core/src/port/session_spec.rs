//! All that a session may need.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AgentError, Events, Gate, McpServer, OptionalServers, RunEventKind, ToolCall, Toolbox,
};
use crate::domain::{
    AgentSessionId, Budget, CredentialFilter, Epoch, InstructionName, Mode, SessionKey,
    SpanContext, TraceContext,
};

/// All that a backend needs to know to start one session.
///
/// A backend that cannot honour a field that is set fails in `create`; it
/// never starts a session that is less guarded or less limited than was asked.
/// [`refuse_unclaimed`](Self::refuse_unclaimed) makes that check from the
/// backend's [`Capabilities`](super::Capabilities).
///
/// ```
/// use autonoe_core::{Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec, Toolbox};
///
/// let key = SessionKey { run: RunId::new("run"), number: 1 };
/// let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
///
/// let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
///
/// assert_eq!(spec.key.number, 1);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionSpec {
    /// The run and the number of the session in it.
    pub key: SessionKey,
    /// Who writes; see [`Fence`](super::Fence).
    pub epoch: Epoch,
    /// What the agent is told to do, by name.
    pub instruction: InstructionName,
    /// The mode of the run.
    pub mode: Mode,
    /// The directory that the agent works in.
    pub cwd: PathBuf,
    /// The model; `None` leaves the choice to the backend.
    pub model: Option<String>,
    /// A system prompt; `None` leaves the backend's own.
    pub system_prompt: Option<String>,
    /// Whether the agent gets the memory files of the project, such as CLAUDE.md or AGENTS.md.
    pub project_memory: bool,
    /// How much the agent may think; `None` leaves the backend's own.
    pub thinking: Option<ThinkingBudget>,
    /// Decides about every tool call.
    pub gate: Gate,
    /// Our tools, offered as the MCP server [`Toolbox::SERVER`].
    pub tools: Toolbox,
    /// Other MCP servers, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Those of the MCP servers that the session can do without; see
    /// [`may_start_without`](Self::may_start_without). A backend that ignores this does not start
    /// without any of them.
    pub optional_servers: OptionalServers,
    /// Whether the backend must keep its tools in a sandbox.
    pub sandbox: Sandbox,
    /// The sandbox around the whole backend, if there is one.
    pub outer_sandbox: Option<OuterSandbox>,
    /// Environment variables for the agent, in addition to the backend's own.
    pub environment: BTreeMap<String, String>,
    /// Decides which variables of the backend's environment are withheld from the agent's tools.
    pub credential_filter: CredentialFilter,
    /// The run's lock, which the agent's processes inherit: as long as one of
    /// them lives, nobody else starts an agent in this project.
    pub lock: Option<Arc<File>>,
    /// Where the session belongs in the tree of the run.
    pub span: SpanContext,
    /// Where the backend tells what only it knows: calls of models, progress, details.
    pub events: Events,
    /// The trace that processes of the session go on with, in their environment.
    pub trace: Option<TraceContext>,
    /// What is left of the run's budget.
    pub budget: Budget,
    /// How many turns the agent may take.
    pub max_turns: Option<u32>,
    /// The conversation to resume.
    pub resume: Option<AgentSessionId>,
    /// The directory in which the backend keeps the conversations of the session, so that a later
    /// session can resume them. A backend with a place of its own ignores it. It may not exist yet;
    /// the caller deletes it.
    pub conversations: Option<PathBuf>,
}

impl SessionSpec {
    /// Makes the spec of a session with nothing special asked for.
    pub fn new(key: SessionKey, cwd: impl Into<PathBuf>, gate: Gate, tools: Toolbox) -> Self {
        Self {
            key,
            epoch: Epoch::default(),
            instruction: InstructionName::Coding,
            mode: Mode::Run,
            cwd: cwd.into(),
            model: None,
            system_prompt: None,
            project_memory: true,
            thinking: None,
            gate,
            tools,
            mcp_servers: BTreeMap::new(),
            optional_servers: OptionalServers::default(),
            sandbox: Sandbox::Required,
            outer_sandbox: None,
            environment: BTreeMap::new(),
            credential_filter: CredentialFilter::default(),
            lock: None,
            span: *Events::silent().span(),
            events: Events::silent(),
            trace: None,
            budget: Budget::default(),
            max_turns: None,
            resume: None,
            conversations: None,
        }
    }

    /// Tells a session whose MCP server `name` failed with `error` whether it may start without it.
    ///
    /// The first failure of an optional server emits a warning, and later sessions of the run do not
    /// have the server. A session must not start without a server that is not optional.
    pub fn may_start_without(&self, name: &str, error: &AgentError) -> bool {
        if !self.optional_servers.contains(name) {
            return false;
        }
        if self.optional_servers.fail(name) {
            let message = format!("agents work without the MCP server {name:?}: {error}");
            let warning = RunEventKind::Warning { message: &message };
            self.events.emit(warning);
        }
        true
    }

    /// Makes the call that the gate is to decide about: session, directory and mode are filled in.
    ///
    /// The kind is the one that [`ToolKind::from_name`](super::ToolKind::from_name)
    /// finds; a backend with tool names of its own sets it by
    /// [`ToolCall::with_kind`].
    pub fn tool_call(
        &self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> ToolCall {
        ToolCall::new(name, input)
            .with_id(id)
            .in_session(self.key.clone())
            .in_dir(&self.cwd)
            .in_mode(self.mode)
    }
}

impl fmt::Debug for SessionSpec {
    // Environment and servers may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSpec")
            .field("key", &self.key)
            .field("epoch", &self.epoch)
            .field("instruction", &self.instruction)
            .field("cwd", &self.cwd)
            .field("model", &self.model)
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// Whether a backend must keep its tools in an OS sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// It must; a backend that cannot does not start.
    #[default]
    Required,
    /// It need not. Only a person can switch it off.
    Off,
}

/// A sandbox around the whole backend, by the word of who embeds the run.
///
/// With it a backend may be run whose hooks do not see every call. A backend around a program makes
/// [`bubblewrap`](Self::bubblewrap) itself, or does not start; any other is taken for one that is
/// around it already, such as a container.
///
/// ```
/// use autonoe_core::OuterSandbox;
///
/// let container = OuterSandbox { name: "container".to_owned() };
///
/// assert!(OuterSandbox::bubblewrap().is_bubblewrap());
/// assert!(!container.is_bubblewrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OuterSandbox {
    /// Names it in reports, for example `bubblewrap`.
    pub name: String,
}

impl OuterSandbox {
    /// The name of the sandbox that a backend around a program makes.
    pub const BUBBLEWRAP: &str = "bubblewrap";

    /// Returns the sandbox that a backend around a program makes.
    pub fn bubblewrap() -> Self {
        Self {
            name: Self::BUBBLEWRAP.to_owned(),
        }
    }

    /// Tells whether it is the one that a backend makes.
    pub fn is_bubblewrap(&self) -> bool {
        self.name == Self::BUBBLEWRAP
    }
}

/// How many tokens an agent may spend on thinking: at least 1024.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(with = "u32")]
pub struct ThinkingBudget(u32);

impl ThinkingBudget {
    /// The least that backends accept.
    pub const LEAST: u32 = 1024;

    /// Makes a budget of `tokens`.
    ///
    /// # Errors
    ///
    /// It is less than [`LEAST`](Self::LEAST).
    pub fn new(tokens: u32) -> Result<Self, ThinkingBudgetTooSmall> {
        if tokens < Self::LEAST {
            Err(ThinkingBudgetTooSmall { tokens })
        } else {
            Ok(Self(tokens))
        }
    }

    /// Returns the tokens.
    pub fn tokens(self) -> u32 {
        self.0
    }
}

impl Default for ThinkingBudget {
    fn default() -> Self {
        Self(8192)
    }
}

impl TryFrom<u32> for ThinkingBudget {
    type Error = ThinkingBudgetTooSmall;

    fn try_from(tokens: u32) -> Result<Self, Self::Error> {
        Self::new(tokens)
    }
}

impl From<ThinkingBudget> for u32 {
    fn from(budget: ThinkingBudget) -> Self {
        budget.0
    }
}

/// A thinking budget that is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a thinking budget of {tokens} tokens is too small; it must be at least {least}", least = ThinkingBudget::LEAST)]
pub struct ThinkingBudgetTooSmall {
    tokens: u32,
}
