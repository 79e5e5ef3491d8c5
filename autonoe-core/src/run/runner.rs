//! [`SessionRunner`], which runs sessions until the work is done.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::SessionRunnerBuilder;
use super::driver::{RunDriver, RunStartMode};
use super::{
    NoJournal, ReadLedgerHistory, RecordedRun, RunControl, RunJournal, RunLimits, RunMachine,
    SessionLimits, TraceContent,
};
use crate::agent::CredentialFilter;
use crate::agent::{
    AgentClientFactory, OptionalServers, OuterSandbox, Sandbox, SessionSpec, ThinkingBudget,
};
use crate::event::RunObserver;
use crate::event::TraceContext;
use crate::gate::{Gate, Grants, PreToolUseHook, ProjectPaths};
use crate::ledger::DeliverableRepository;
use crate::run::{InstructionSelector, InstructionSource, Workspace};
use crate::run::{Models, RunReport};
use crate::time::SessionKey;
use crate::time::{Clock, IdSource, Mode, SystemClock};
use crate::tool::{McpServer, Tool, ToolServer, Toolbox};

/// Runs sessions one after another until the work is done, or until the run must stop.
///
/// It drives a [`RunMachine`](crate::run::RunMachine) in-process. One runner can execute any number
/// of runs, but two concurrent runs on the same project would fence each other off.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use autonoe_core::run::InstructionSource;
/// use autonoe_core::{
///     AgentClientFactory, DeliverableRepository, OnQuota, RunControl, SessionRunner,
/// };
///
/// async fn build_it(
///     agents: Arc<dyn AgentClientFactory>,
///     ledger: Arc<dyn DeliverableRepository>,
///     texts: Arc<dyn InstructionSource>,
/// ) -> Result<(), autonoe_core::run::BuildError> {
///     let runner = SessionRunner::builder("/srv/project")
///         .agents(agents)
///         .repository(ledger)
///         .instructions(texts)
///         .on_quota(OnQuota::Wait)
///         .build()?;
///
///     let report = runner.run(&RunControl::new()).await;
///
///     println!("{report}");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct SessionRunner {
    pub(crate) parts: Arc<RunParts>,
    pub(crate) work: RunInputs,
}

/// The ledger and the instructions of a run.
#[derive(Clone)]
pub(crate) struct RunInputs {
    pub(crate) repository: Arc<dyn DeliverableRepository>,
    pub(crate) instructions: Arc<dyn InstructionSource>,
    pub(crate) instruction_selector: Arc<dyn InstructionSelector>,
}

/// Everything that sessions need, whether a run or a caller decides which session comes next.
pub(crate) struct RunParts {
    pub(crate) agents: Arc<dyn AgentClientFactory>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) guards: Vec<Arc<dyn PreToolUseHook>>,
    pub(crate) grants: Grants,
    pub(crate) settings: RunSettings,
}

/// The settings of sessions that have a default.
pub(crate) struct RunSettings {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) observers: Vec<Arc<dyn RunObserver>>,
    pub(crate) hooks: Vec<Arc<dyn PreToolUseHook>>,
    pub(crate) hook_time_limit: Duration,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) tool_data: Map<String, Value>,
    pub(crate) tool_server: Option<Arc<dyn ToolServer>>,
    pub(crate) project_paths: ProjectPaths,
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    pub(crate) limits: RunLimits,
    pub(crate) session_limits: SessionLimits,
    pub(crate) max_turns: Option<u32>,
    pub(crate) models: Models,
    pub(crate) thinking: Option<ThinkingBudget>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) conversations: Option<PathBuf>,
    pub(crate) project_memory: bool,
    pub(crate) mcp_servers: BTreeMap<String, McpServer>,
    pub(crate) optional_servers: OptionalServers,
    pub(crate) sandbox: Sandbox,
    pub(crate) outer_sandbox: Option<OuterSandbox>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) credential_filter: CredentialFilter,
    pub(crate) lock: Option<Arc<File>>,
    pub(crate) journal: Arc<dyn RunJournal>,
    pub(crate) ledger_history: Option<Arc<ReadLedgerHistory>>,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) trace_content: TraceContent,
}

impl RunSettings {
    pub(super) fn new(project_dir: PathBuf) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            observers: Vec::new(),
            hooks: Vec::new(),
            hook_time_limit: Gate::DEFAULT_TIME_LIMIT,
            tools: Vec::new(),
            tool_data: Map::new(),
            tool_server: None,
            project_paths: ProjectPaths::new(project_dir),
            workspace: None,
            limits: RunLimits::new(Mode::Run),
            session_limits: SessionLimits::default(),
            max_turns: None,
            models: Models::default(),
            thinking: None,
            system_prompt: None,
            conversations: None,
            project_memory: true,
            mcp_servers: BTreeMap::new(),
            optional_servers: OptionalServers::default(),
            sandbox: Sandbox::Required,
            outer_sandbox: None,
            environment: BTreeMap::new(),
            credential_filter: CredentialFilter::default(),
            lock: None,
            journal: Arc::new(NoJournal),
            ledger_history: None,
            trace: None,
            trace_content: TraceContent::default(),
        }
    }

    /// Creates the spec of a session with all fields that are the same in every session of the run.
    pub(crate) fn session_spec(&self, key: SessionKey, gate: Gate, tools: Toolbox) -> SessionSpec {
        let mut spec = SessionSpec::new(key, self.project_paths.project.clone(), gate, tools);
        spec.mode = self.limits.mode;
        spec.system_prompt.clone_from(&self.system_prompt);
        spec.project_memory = self.project_memory;
        spec.thinking = self.thinking;
        spec.mcp_servers.clone_from(&self.mcp_servers);
        spec.sandbox = self.sandbox;
        spec.outer_sandbox.clone_from(&self.outer_sandbox);
        spec.environment.clone_from(&self.environment);
        spec.credential_filter = self.credential_filter.clone();
        spec.lock.clone_from(&self.lock);
        spec.max_turns = self.max_turns;
        spec.conversations.clone_from(&self.conversations);
        spec
    }
}

impl SessionRunner {
    /// Creates a builder for the project in `project_dir`, an absolute path.
    pub fn builder(project_dir: impl Into<std::path::PathBuf>) -> SessionRunnerBuilder {
        SessionRunnerBuilder::new(project_dir.into())
    }

    /// Runs until the work is done or the run must stop, and returns a report.
    ///
    /// It always returns a report: an error is its [`exit`](RunReport::exit). `control` cancels,
    /// pauses and instructs the run.
    pub async fn run(&self, control: &RunControl) -> RunReport {
        let run = self.parts.ids.run_id();
        let machine = RunMachine::new(self.parts.settings.limits.clone());
        let driver = RunDriver::new(self, control, run, machine, RunStartMode::New);
        driver.run().await
    }

    /// Resumes an interrupted run, with its limits and its counts, and returns a report.
    ///
    /// The limits of this runner are ignored: those of the run are in its journal.
    /// [`RecordedRun::with_limits`] overrides them, and the change is recorded. Everything else is
    /// this runner's: its models, hooks and tools. A run cannot be resumed in another mode.
    pub async fn resume(&self, recorded: RecordedRun, control: &RunControl) -> RunReport {
        let RecordedRun {
            run,
            machine,
            overrides,
        } = recorded;
        let start_mode = RunStartMode::Resumed { overrides };
        let driver = RunDriver::new(self, control, run, machine, start_mode);
        driver.run().await
    }
}

impl std::fmt::Debug for SessionRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionRunner")
            .field("project", &self.parts.settings.project_paths.project)
            .field("limits", &self.parts.settings.limits)
            .finish_non_exhaustive()
    }
}
