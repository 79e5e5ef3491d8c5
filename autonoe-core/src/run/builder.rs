//! [`SessionRunnerBuilder`], which configures runs and single sessions.

mod bash;
mod build;

use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_security::{BashSecurity, DenyAll, PolicyConfig};
use serde_json::{Map, Value};

use self::bash::Bash;
use super::runner::RunSettings;
use super::{LimitOverrides, RunJournal, TraceContent};
use crate::agent::{
    AgentClientFactory, Budget, CredentialFilter, OuterSandbox, Sandbox, ThinkingBudget,
};
use crate::event::RunObserver;
use crate::event::TraceContext;
use crate::gate::{PermissionRule, PreToolUseHook};
use crate::ledger::DeliverableRepository;
use crate::run::{InstructionSelector, InstructionSource, Workspace};
use crate::run::{Models, OnQuota, QuotaBackoff};
use crate::time::{Clock, IdSource, Mode};
use crate::tool::{McpServer, Tool, ToolServer};

/// Builds a [`SessionRunner`](crate::SessionRunner), or [`Sessions`](crate::Sessions) for a caller
/// that decides itself which session comes next.
///
/// Agents, repository and instructions are required; everything else has a default. The guards
/// (Bash policy, file scope, `.autonoe/` protection) are always active: no method removes them.
pub struct SessionRunnerBuilder {
    agents: Option<Arc<dyn AgentClientFactory>>,
    pub(crate) repository: Option<Arc<dyn DeliverableRepository>>,
    instructions: Option<Arc<dyn InstructionSource>>,
    instruction_selector: Option<Arc<dyn InstructionSelector>>,
    bash: Bash,
    ids: Option<Arc<dyn IdSource>>,
    guards: Vec<Arc<dyn PreToolUseHook>>,
    rules: Vec<PermissionRule>,
    settings: RunSettings,
}

impl SessionRunnerBuilder {
    pub(crate) fn new(project_dir: PathBuf) -> Self {
        Self {
            agents: None,
            repository: None,
            instructions: None,
            instruction_selector: None,
            bash: Bash::Validator(Arc::new(DenyAll)),
            ids: None,
            guards: Vec::new(),
            rules: Vec::new(),
            settings: RunSettings::new(project_dir),
        }
    }

    /// Sets the backend that creates agents. Required.
    #[must_use]
    pub fn agents(mut self, agents: impl AgentClientFactory + 'static) -> Self {
        self.agents = Some(Arc::new(agents));
        self
    }

    /// Sets the repository of the ledger. Required.
    #[must_use]
    pub fn repository(mut self, repository: impl DeliverableRepository + 'static) -> Self {
        self.repository = Some(Arc::new(repository));
        self
    }

    /// Sets the source of the agents' instructions. Required.
    #[must_use]
    pub fn instructions(mut self, instructions: impl InstructionSource + 'static) -> Self {
        self.instructions = Some(Arc::new(instructions));
        self
    }

    /// Sets the selector of the instruction of each session; the [`Workflow`](crate::run::Workflow)
    /// of the mode by default.
    ///
    /// It applies to runs of this runner. Engines and session hosts always use the workflow.
    #[must_use]
    pub fn instruction_selector(mut self, selector: impl InstructionSelector + 'static) -> Self {
        self.instruction_selector = Some(Arc::new(selector));
        self
    }

    /// Sets the Bash policy. The run supplies its mode, project directory, link and home, and the
    /// policy follows the symlinks of this machine.
    ///
    /// Without a policy every command is denied. It replaces
    /// [`bash_security`](Self::bash_security). To combine a policy with a validator of your own,
    /// add the validator as a guard: `.guard(BashGuard::new(validator))`.
    #[must_use]
    pub fn bash_policy(mut self, config: PolicyConfig) -> Self {
        self.bash = Bash::Policy(Box::new(config));
        self
    }

    /// Sets your own validator of Bash commands, in place of a [`bash_policy`](Self::bash_policy).
    ///
    /// [`build`](Self::build) refuses a [`BashValidator`](crate::gate::policy::BashValidator) whose
    /// mode, directory or home differ from those of the run.
    #[must_use]
    pub fn bash_security(mut self, validator: impl BashSecurity + 'static) -> Self {
        self.bash = Bash::Validator(Arc::new(validator));
        self
    }

    /// Sets the mode of the run; [`Mode::Run`] by default.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.limits.mode = mode;
        self
    }

    /// Limits the iterations, which are the sessions that count; unlimited by default.
    #[must_use]
    pub fn max_iterations(mut self, max: u32) -> Self {
        self.settings.limits.max_iterations = Some(max);
        self
    }

    /// Sets how many sessions in a row may fail; 3 by default.
    #[must_use]
    pub fn max_retries(mut self, max: u32) -> Self {
        self.settings.limits.max_retries = max;
        self
    }

    /// Sets how many sessions in a row without progress end the run; 5 by default, 0 for no limit.
    ///
    /// In [`Mode::Run`], a session without progress is recognised only with a
    /// [`workspace`](Self::workspace).
    #[must_use]
    pub fn max_stalled_sessions(mut self, max: u32) -> Self {
        self.settings.limits.max_stalled_sessions = max;
        self
    }

    /// Sets the reaction to an exceeded quota; [`OnQuota::Stop`] by default.
    #[must_use]
    pub fn on_quota(mut self, on_quota: OnQuota) -> Self {
        self.settings.limits.on_quota = on_quota;
        self
    }

    /// Sets the backoff that applies when the reset time of the quota is unknown.
    #[must_use]
    pub fn quota_backoff(mut self, backoff: QuotaBackoff) -> Self {
        self.settings.limits.quota_backoff = backoff;
        self
    }

    /// Sets the pause between sessions; 3 seconds by default.
    #[must_use]
    pub fn pause_between_sessions(mut self, pause: Duration) -> Self {
        self.settings.limits.pause = pause;
        self
    }

    /// Limits cost, tokens and time; unlimited by default.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.limits.budget = budget;
        self
    }

    /// Sets the limits that are `Some` in `overrides` and keeps the others.
    #[must_use]
    pub fn limits(mut self, overrides: &LimitOverrides) -> Self {
        self.settings.limits = overrides.apply_to(&self.settings.limits);
        self
    }

    /// Sets how long an agent may stay silent; 30 minutes by default.
    #[must_use]
    pub fn idle_limit(mut self, limit: Duration) -> Self {
        self.settings.session_limits.idle = limit;
        self
    }

    /// Sets how long the disposal of a client may take; 30 seconds by default.
    #[must_use]
    pub fn dispose_limit(mut self, limit: Duration) -> Self {
        self.settings.session_limits.dispose = limit;
        self
    }

    /// Limits the turns of one session; the backend's own limit by default.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.settings.max_turns = Some(turns);
        self
    }

    /// Sets the models by phase; the backend's choice by default.
    #[must_use]
    pub fn models(mut self, models: Models) -> Self {
        self.settings.models = models;
        self
    }

    /// Sets the thinking budget of agents; the backend's choice by default.
    #[must_use]
    pub fn thinking(mut self, budget: ThinkingBudget) -> Self {
        self.settings.thinking = Some(budget);
        self
    }

    /// Sets the system prompt; the backend's own by default.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.settings.system_prompt = Some(text.into());
        self
    }

    /// Sets the directory in which backends keep conversations, so that a later session can
    /// [resume](crate::SessionOrder::resume) them; none by default.
    ///
    /// A backend with its own place for conversations ignores the directory. Other backends, such
    /// as models, cannot resume without it. The caller deletes the directory.
    #[must_use]
    pub fn conversations(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings.conversations = Some(directory.into());
        self
    }

    /// Sets whether agents get the memory files of the project, such as `CLAUDE.md` or
    /// `AGENTS.md`; they do by default.
    #[must_use]
    pub fn project_memory(mut self, enabled: bool) -> Self {
        self.settings.project_memory = enabled;
        self
    }

    /// Adds a hook after the existing ones. Hooks run after the guards.
    #[must_use]
    pub fn hook(mut self, hook: impl PreToolUseHook + 'static) -> Self {
        self.settings.hooks.push(Arc::new(hook));
        self
    }

    /// Adds a guard after the built-in ones. It can block a call; its approval counts as a pass.
    #[must_use]
    pub fn guard(mut self, guard: impl PreToolUseHook + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Sets how long one hook may take before the call is blocked; 10 seconds by default.
    #[must_use]
    pub fn hook_time_limit(mut self, limit: Duration) -> Self {
        self.settings.hook_time_limit = limit;
        self
    }

    /// Adds a permission rule to the baseline grants.
    #[must_use]
    pub fn grant(mut self, rule: PermissionRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a tool to every session, beside the deliverable tools, and grants it.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.settings.tools.push(Arc::new(tool));
        self
    }

    /// Sets the data that tools get as [`ToolContext::extra`](crate::ToolContext::extra).
    #[must_use]
    pub fn tool_data(mut self, data: Map<String, Value>) -> Self {
        self.settings.tool_data = data;
        self
    }

    /// Sets the server that offers Autonoe's tools to backends that cannot take them in-process.
    #[must_use]
    pub fn tool_server(mut self, server: impl ToolServer + 'static) -> Self {
        self.settings.tool_server = Some(Arc::new(server));
        self
    }

    /// Adds an MCP server to every session. A session does not start without it.
    #[must_use]
    pub fn mcp_server(mut self, name: impl Into<String>, server: McpServer) -> Self {
        let name = name.into();
        self.settings.optional_servers.remove(&name);
        self.settings.mcp_servers.insert(name, server);
        self
    }

    /// Adds an MCP server to every session that can do without it: if it fails, the run emits a
    /// warning and its sessions do not have the server.
    ///
    /// In-process agents and Claude Code support this. With a backend that has no MCP servers, the
    /// sessions do not have this one either. Other backends treat the server as one of
    /// [`mcp_server`](Self::mcp_server).
    #[must_use]
    pub fn optional_mcp_server(self, name: impl Into<String>, server: McpServer) -> Self {
        let name = name.into();
        let mut builder = self.mcp_server(name.clone(), server);
        builder.settings.optional_servers.insert(name);
        builder
    }

    /// Removes the MCP server `name` from every session, if it was added before.
    #[must_use]
    pub fn without_mcp_server(mut self, name: &str) -> Self {
        self.settings.mcp_servers.remove(name);
        self.settings.optional_servers.remove(name);
        self
    }

    /// Adds environment variables to the MCP server `name`, if it was added before and is a
    /// program. The variables of the server itself take precedence.
    ///
    /// Not every agent passes its own environment to the MCP servers of its session.
    #[must_use]
    pub fn mcp_server_environment(
        mut self,
        name: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        if let Some(McpServer::Stdio { env, .. }) = self.settings.mcp_servers.get_mut(name) {
            for (variable, value) in environment {
                env.entry(variable).or_insert(value);
            }
        }
        self
    }

    /// Sets whether the backend must run its tools in a sandbox; required by default.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.settings.sandbox = sandbox;
        self
    }

    /// Declares that the whole backend runs in a sandbox, so that partial hook coverage is enough.
    #[must_use]
    pub fn outer_sandbox(mut self, sandbox: OuterSandbox) -> Self {
        self.settings.outer_sandbox = Some(sandbox);
        self
    }

    /// Sets the workspace, whose snapshots show whether a session made progress; see
    /// [`max_stalled_sessions`](Self::max_stalled_sessions). None by default.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Workspace + 'static) -> Self {
        self.settings.workspace = Some(Arc::new(workspace));
        self
    }

    /// Sets the descriptor of the run's lock, which the agents' processes inherit.
    #[must_use]
    pub fn lock(mut self, descriptor: Arc<File>) -> Self {
        self.settings.lock = Some(descriptor);
        self
    }

    /// Sets the journal of the run. Without one, which is the default, a run cannot be resumed.
    #[must_use]
    pub fn journal(mut self, journal: impl RunJournal + 'static) -> Self {
        self.settings.journal = Arc::new(journal);
        self
    }

    /// Sets the function with which each run reads the ledger history from the journal.
    #[cfg(feature = "project")]
    #[must_use]
    pub(crate) fn ledger_history(mut self, read: Arc<super::ReadLedgerHistory>) -> Self {
        self.settings.ledger_history = Some(read);
        self
    }

    /// Sets an environment variable of the agents.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.environment.insert(name.into(), value.into());
        self
    }

    /// Sets a symlink to the project. Paths through it count as paths of the project.
    #[must_use]
    pub fn project_link(mut self, link: impl Into<PathBuf>) -> Self {
        self.settings.project_paths.project_link = Some(link.into());
        self
    }

    /// Sets the credentials in the backend's environment that reach the agents' tools; none by
    /// default.
    #[must_use]
    pub fn credential_filter(mut self, filter: CredentialFilter) -> Self {
        self.settings.credential_filter = filter;
        self
    }

    /// Sets the user's home directory, the base of rules with `~` and of the paths of credentials.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.settings.project_paths.home = Some(home.into());
        self
    }

    /// Adds an observer.
    #[must_use]
    pub fn observer(mut self, observer: impl RunObserver + 'static) -> Self {
        self.settings.observers.push(Arc::new(observer));
        self
    }

    /// Makes the run part of the trace of `parent`; by default it starts its own trace.
    #[must_use]
    pub fn trace(mut self, parent: TraceContext) -> Self {
        self.settings.trace = Some(parent);
        self
    }

    /// Sets whether spans carry prompts, answers and tool inputs; they do not by default.
    #[must_use]
    pub fn trace_content(mut self, content: TraceContent) -> Self {
        self.settings.trace_content = content;
        self
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// Sets the source of IDs; the operating system's randomness by default.
    #[must_use]
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }
}

impl fmt::Debug for SessionRunnerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionRunnerBuilder")
            .field("project", &self.settings.project_paths.project)
            .field("limits", &self.settings.limits)
            .finish_non_exhaustive()
    }
}
