//! What runs sessions until the work is done.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::SessionRunnerBuilder;
use super::drive::Drive;
use super::{
    ReadLedgerHistory, RecordedRun, RunControl, RunJournal, RunLimits, SessionLimits, TraceContent,
};
use crate::domain::{CredentialFilter, Models, RunReport, SessionKey, TraceContext};
use crate::port::{
    AgentClientFactory, Clock, DeliverableRepository, Gate, Grants, IdSource, InstructionSelector,
    InstructionSource, McpServer, OptionalServers, OuterSandbox, PreToolUseHook, ProjectPaths,
    RunObserver, Sandbox, SessionSpec, ThinkingBudget, Tool, ToolServer, Toolbox, Workspace,
};

/// Runs sessions one after another until the work is done, or until it must stop.
///
/// It drives a [`RunMachine`](crate::RunMachine) in-process. One runner can do
/// any number of runs, but two at once on the same project would fence each
/// other off.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use autonoe_core::{
///     AgentClientFactory, DeliverableRepository, InstructionSource, OnQuota, RunControl,
///     SessionRunner,
/// };
///
/// async fn build_it(
///     agents: Arc<dyn AgentClientFactory>,
///     ledger: Arc<dyn DeliverableRepository>,
///     texts: Arc<dyn InstructionSource>,
/// ) -> Result<(), autonoe_core::BuildError> {
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
    pub(super) parts: Arc<Parts>,
    pub(super) work: Work,
}

/// What a run works on, and what it tells agents to do.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) repository: Arc<dyn DeliverableRepository>,
    pub(super) instructions: Arc<dyn InstructionSource>,
    pub(super) instruction_selector: Arc<dyn InstructionSelector>,
}

/// All that sessions need, whoever decides what comes next.
pub(super) struct Parts {
    pub(super) agents: Arc<dyn AgentClientFactory>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) observers: Vec<Arc<dyn RunObserver>>,
    pub(super) guards: Vec<Arc<dyn PreToolUseHook>>,
    pub(super) hooks: Vec<Arc<dyn PreToolUseHook>>,
    pub(super) hook_time_limit: Duration,
    pub(super) grants: Grants,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) tool_data: Map<String, Value>,
    pub(super) tool_server: Option<Arc<dyn ToolServer>>,
    pub(super) project_paths: ProjectPaths,
    pub(super) workspace: Option<Arc<dyn Workspace>>,
    pub(super) limits: RunLimits,
    pub(super) session_limits: SessionLimits,
    pub(super) max_turns: Option<u32>,
    pub(super) models: Models,
    pub(super) thinking: Option<ThinkingBudget>,
    pub(super) system_prompt: Option<String>,
    pub(super) conversations: Option<PathBuf>,
    pub(super) project_memory: bool,
    pub(super) mcp_servers: BTreeMap<String, McpServer>,
    pub(super) optional_servers: OptionalServers,
    pub(super) sandbox: Sandbox,
    pub(super) outer_sandbox: Option<OuterSandbox>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) credential_filter: CredentialFilter,
    pub(super) lock: Option<Arc<File>>,
    pub(super) journal: Arc<dyn RunJournal>,
    pub(super) ledger_history: Option<Arc<ReadLedgerHistory>>,
    pub(super) trace: Option<TraceContext>,
    pub(super) trace_content: TraceContent,
}

impl Parts {
    /// Makes the spec of a session with all fields that are the same in every session of the run.
    pub(super) fn session_spec(&self, key: SessionKey, gate: Gate, tools: Toolbox) -> SessionSpec {
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
    /// Starts to put a runner together for the project in `project_dir`, an absolute path.
    pub fn builder(project_dir: impl Into<std::path::PathBuf>) -> SessionRunnerBuilder {
        SessionRunnerBuilder::new(project_dir.into())
    }

    /// Runs until the work is done or the run must stop, and reports.
    ///
    /// It always returns a report: whatever goes wrong is its
    /// [`exit`](RunReport::exit). `control` ends, pauses and instructs it.
    pub async fn run(&self, control: &RunControl) -> RunReport {
        Drive::new(self, control).run().await
    }

    /// Resumes an interrupted run, with its limits and its counts, and reports.
    ///
    /// The limits of this runner are not used: those of the run are in its journal. Others
    /// are given by [`RecordedRun::with_limits`]; the change is written down, too. All else is
    /// this runner's: its models, hooks and tools. A run cannot be resumed in another mode.
    pub async fn resume(&self, recorded: RecordedRun, control: &RunControl) -> RunReport {
        Drive::resuming(self, control, recorded).run().await
    }
}

impl std::fmt::Debug for SessionRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionRunner")
            .field("project", &self.parts.project_paths.project)
            .field("limits", &self.parts.limits)
            .finish_non_exhaustive()
    }
}
