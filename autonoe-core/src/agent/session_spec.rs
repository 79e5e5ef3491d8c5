//! [`SessionSpec`], everything that a backend needs to start a session.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{AgentError, Budget, CredentialFilter};
use crate::event::{Events, InstructionName, RunEventKind, SpanContext, TraceContext};
use crate::gate::Gate;
use crate::time::{AgentSessionId, Epoch, Mode, SessionKey};
use crate::tool::{McpServer, ToolCall, Toolbox};

/// Everything that a backend needs to start one session.
///
/// If a backend cannot honour a field that is set, `create` fails. A backend never starts a session
/// that is less guarded or less limited than requested.
/// [`refuse_unclaimed`](Self::refuse_unclaimed) performs that check based on the backend's
/// [`Capabilities`](crate::Capabilities).
///
/// ```
/// use autonoe_core::gate::{Gate, Grants, ProjectPaths};
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::Toolbox;
/// use autonoe_core::{RunId, SessionSpec};
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
    /// The run, and the number of the session in it.
    pub key: SessionKey,
    /// Epoch of the writer; see [`Fence`](crate::ledger::Fence).
    pub epoch: Epoch,
    /// Name of the instruction of the session.
    pub instruction: InstructionName,
    /// Mode of the run.
    pub mode: Mode,
    /// Working directory of the agent.
    pub cwd: PathBuf,
    /// Model; `None` leaves the choice to the backend.
    pub model: Option<String>,
    /// System prompt; `None` keeps the default of the backend.
    pub system_prompt: Option<String>,
    /// Whether the agent receives the memory files of the project, such as CLAUDE.md or AGENTS.md.
    pub project_memory: bool,
    /// Thinking budget of the agent; `None` keeps the default of the backend.
    pub thinking: Option<ThinkingBudget>,
    /// Decides about every tool call.
    pub gate: Gate,
    /// Autonoe's tools, offered as the MCP server [`Toolbox::SERVER`].
    pub tools: Toolbox,
    /// Other MCP servers, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// MCP servers without which the session can start; see
    /// [`may_start_without`](Self::may_start_without). A backend that ignores this field treats all
    /// servers as mandatory.
    pub optional_servers: OptionalServers,
    /// Whether the backend must run its tools in a sandbox.
    pub sandbox: Sandbox,
    /// Sandbox around the whole backend, if there is one.
    pub outer_sandbox: Option<OuterSandbox>,
    /// Environment variables for the agent, in addition to the backend's own.
    pub environment: BTreeMap<String, String>,
    /// Filter for the variables of the backend's environment that the agent's tools inherit.
    pub credential_filter: CredentialFilter,
    /// Lock of the run, which the processes of the agent inherit. As long as one of them is alive,
    /// no other run can start an agent in this project.
    pub lock: Option<Arc<File>>,
    /// Span of the session.
    pub span: SpanContext,
    /// Handle through which the backend emits what only it knows: model calls, progress, details.
    pub events: Events,
    /// Trace that processes of the session continue, passed in their environment.
    pub trace: Option<TraceContext>,
    /// Remaining budget of the run.
    pub budget: Budget,
    /// Maximum number of turns of the agent.
    pub max_turns: Option<u32>,
    /// The conversation to resume.
    pub resume: Option<AgentSessionId>,
    /// Directory in which the backend stores the conversations of the session, so that a later
    /// session can resume them. A backend with its own storage ignores it. The directory may not
    /// exist yet; the caller deletes it.
    pub conversations: Option<PathBuf>,
}

impl SessionSpec {
    /// Creates a spec with default settings.
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

    /// Returns whether the session may start without its MCP server `name`, which failed with
    /// `error`.
    ///
    /// The first failure of an optional server emits a warning, and later sessions of the run omit
    /// the server. A session must not start without a mandatory server.
    pub fn may_start_without(&self, name: &str, error: &AgentError) -> bool {
        if !self.optional_servers.contains(name) {
            return false;
        }
        if self.optional_servers.fail(name) {
            let message = format!("sessions start without the MCP server {name:?}: {error}");
            let warning = RunEventKind::Warning { message: &message };
            self.events.emit(warning);
        }
        true
    }

    /// Creates the call to submit to the gate, with session, directory and mode filled in.
    ///
    /// The kind is the result of [`ToolKind::from_name`](crate::ToolKind::from_name). A backend
    /// with its own tool names sets it with [`ToolCall::with_kind`].
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
    // Environment and servers may contain secrets, so they are not printed.
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

/// Whether a backend must run its tools in an OS sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// The sandbox is required; a backend that has none does not start.
    #[default]
    Required,
    /// The sandbox is optional. Only the operator can set this.
    Off,
}

/// A sandbox around the whole backend, as declared by the embedder.
///
/// It permits backends whose hooks do not see every call. A backend that wraps a program creates
/// [`bubblewrap`](Self::bubblewrap) itself, or does not start. Any other name declares a sandbox
/// that already surrounds the backend, such as a container.
///
/// ```
/// use autonoe_core::agent::OuterSandbox;
///
/// let container = OuterSandbox { name: "container".to_owned() };
///
/// assert!(OuterSandbox::bubblewrap().is_bubblewrap());
/// assert!(!container.is_bubblewrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OuterSandbox {
    /// Name for reports, for example `bubblewrap`.
    pub name: String,
}

impl OuterSandbox {
    /// Name of the sandbox that a backend creates around its program.
    pub const BUBBLEWRAP: &str = "bubblewrap";

    /// Returns the sandbox that a backend creates around its program.
    pub fn bubblewrap() -> Self {
        Self {
            name: Self::BUBBLEWRAP.to_owned(),
        }
    }

    /// Returns whether the backend creates this sandbox.
    pub fn is_bubblewrap(&self) -> bool {
        self.name == Self::BUBBLEWRAP
    }
}

/// Number of tokens that an agent may spend on thinking: at least 1024.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(with = "u32")]
pub struct ThinkingBudget(u32);

impl ThinkingBudget {
    /// Minimum that backends accept.
    pub const MIN_TOKENS: u32 = 1024;

    /// Creates a budget of `tokens`.
    ///
    /// # Errors
    ///
    /// `tokens` is less than [`MIN_TOKENS`](Self::MIN_TOKENS).
    pub fn new(tokens: u32) -> Result<Self, ThinkingBudgetTooSmall> {
        if tokens < Self::MIN_TOKENS {
            Err(ThinkingBudgetTooSmall { tokens })
        } else {
            Ok(Self(tokens))
        }
    }

    /// Returns the number of tokens.
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

/// Error: the thinking budget is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a thinking budget of {tokens} tokens is too small; it must be at least {least}", least = ThinkingBudget::MIN_TOKENS)]
pub struct ThinkingBudgetTooSmall {
    tokens: u32,
}

/// Names of the MCP servers without which sessions of a run can start, and those that failed.
///
/// All sessions of a run share the same value. The run omits a failed server from later sessions,
/// so that it waits for that server only once.
#[derive(Clone, Debug, Default)]
pub struct OptionalServers {
    names: BTreeSet<String>,
    failed: Arc<Mutex<BTreeSet<String>>>,
}

impl OptionalServers {
    pub(crate) fn insert(&mut self, name: String) {
        self.names.insert(name);
    }

    /// Makes the server `name` mandatory.
    ///
    /// A backend calls this for a server of its own options that replaces one of the run.
    pub fn remove(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// Returns the same names for another run, without any failures.
    pub(crate) fn for_new_run(&self) -> Self {
        self.names.iter().cloned().collect()
    }

    /// Returns whether sessions can start without the server `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns whether the server `name` failed in an earlier session of the run.
    pub(crate) fn has_failed(&self, name: &str) -> bool {
        self.failed().contains(name)
    }

    /// Records that the server `name` failed, and returns whether this is its first failure.
    pub(crate) fn fail(&self, name: &str) -> bool {
        self.failed().insert(name.to_owned())
    }

    fn failed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Into<String>> FromIterator<S> for OptionalServers {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_of_a_run_share_failures() {
        let first = OptionalServers::from_iter(["playwright"]);
        let second = first.clone();

        assert!(first.fail("playwright"));

        assert!(second.has_failed("playwright") && !second.has_failed("docs"));
        assert!(!second.fail("playwright"), "it failed before");
    }

    #[test]
    fn a_new_run_retries_a_failed_server() {
        let first = OptionalServers::from_iter(["playwright"]);
        first.fail("playwright");

        let next = first.for_new_run();

        assert!(next.contains("playwright") && !next.has_failed("playwright"));
    }
}
