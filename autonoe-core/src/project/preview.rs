//! [`RunPreview`], a dry run of a project.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, InstructionText, Journal, Project,
    ProjectInstructions, ProjectRunError, RunLock, RunLockHeld, SandboxSwitch,
};
use crate::event::InstructionName;
use crate::ledger::LedgerView;
use crate::ledger::MemoryRepository;
use crate::ledger::{LedgerStore, deliverable_tools};
use crate::run::{ExitReason, Workflow};
use crate::run::{LimitOverrides, RecordedRun, RunAction, RunLimits};
use crate::time::SystemClock;
use crate::time::{Epoch, Mode, RunId};
use crate::tool::Toolbox;

/// The first step of a [`ProjectRun`](super::ProjectRun). Computing it starts and writes nothing.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::{NextAction, RunPreview, SandboxSwitch};
/// use autonoe_core::{Mode, Project};
///
/// # let dir = tempfile::tempdir()?;
/// # std::fs::write(dir.path().join("SPEC.md"), "# Shop")?;
/// # let working_dir = dir.path();
/// let project = Project::find(working_dir, None)?;
///
/// let preview = RunPreview::new(&project, Mode::Run, SandboxSwitch::default())?;
///
/// let NextAction::Session { instruction, .. } = &preview.next else {
///     panic!("nothing is done yet")
/// };
/// assert_eq!(instruction, &InstructionName::Initializer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunPreview {
    /// The settings, each with its source.
    pub config: EffectiveConfig,
    /// The counts of the ledger; `None` if there is none yet.
    pub ledger: Option<LedgerView>,
    /// The interrupted run of the project that would be resumed.
    pub resumes: Option<ResumedRun>,
    /// The first step.
    pub next: NextAction,
    /// The holder of the run lock, if another run is running.
    pub lock_held: Option<RunLockHeld>,
}

/// An interrupted run that would be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumedRun {
    /// The run.
    pub run: RunId,
    /// The limits of the resumed run.
    pub limits: RunLimits,
}

/// The first step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextAction {
    /// The run would start a session.
    Session {
        /// Its number.
        number: u32,
        /// The agent's instruction.
        instruction: InstructionName,
        /// The text of the instruction.
        text: InstructionText,
        /// The agent's deliverable tools, by the names that agents use.
        tools: Vec<String>,
    },
    /// The run would continue the wait in which it was interrupted.
    Wait {
        /// The end of the wait.
        until: Timestamp,
    },
    /// The run would stay paused until the operator resumes it.
    Hold,
    /// The run would end immediately: there is nothing to do.
    Finish {
        /// The reason.
        exit: ExitReason,
    },
}

impl RunPreview {
    /// Returns the preview of a run of `mode` in `project`.
    ///
    /// # Errors
    ///
    /// The run could not start: `SPEC.md` is missing or blank, or a file of the project cannot be
    /// parsed. Another running run is not an error here.
    pub fn new(
        project: &Project,
        mode: Mode,
        sandbox: SandboxSwitch,
    ) -> Result<Self, ProjectRunError> {
        let overrides = LimitOverrides::default();
        Self::with_limits(project, mode, sandbox, &overrides, Timestamp::UNIX_EPOCH)
    }

    /// Returns the preview of a run of `mode` in `project` that starts at `now` with the limits
    /// `overrides`.
    ///
    /// # Errors
    ///
    /// As for `of`.
    pub fn with_limits(
        project: &Project,
        mode: Mode,
        sandbox: SandboxSwitch,
        overrides: &LimitOverrides,
        now: Timestamp,
    ) -> Result<Self, ProjectRunError> {
        project.specification()?;
        let config = AgentConfig::load(project.config_path())?;
        let config = EffectiveConfig::merge(config, mode, sandbox)?;
        let repository = FileDeliverableRepository::from_path(project.status_path());
        let snapshot = repository.load_now()?;
        if snapshot.is_none() {
            project.check_journal_has_no_deliverables()?;
        }
        repository.check_takeover(snapshot.as_ref())?;
        let ledger = snapshot.map(|snapshot| snapshot.state.view());
        let interrupted = Journal::read(&project.journal_path())?
            .interrupted_run()
            .filter(|recorded| recorded.mode() == mode)
            .map(|recorded| recorded.with_limits(overrides.clone()));
        let next = match &interrupted {
            Some(recorded) => after(recorded, now, ledger, project)?,
            None => first(mode, ledger.unwrap_or_default(), project)?,
        };
        Ok(Self {
            config,
            ledger,
            resumes: interrupted.map(|recorded| ResumedRun {
                run: recorded.run().clone(),
                limits: recorded.limits(),
            }),
            next,
            lock_held: RunLock::held(project)?,
        })
    }
}

/// Returns the first step of a new run.
fn first(mode: Mode, ledger: LedgerView, project: &Project) -> Result<NextAction, ProjectRunError> {
    let workflow = Workflow::new(mode);
    match workflow.completion(&ledger, false) {
        Some(exit) => Ok(NextAction::Finish { exit }),
        None => session(1, workflow.instruction(&ledger, false), project),
    }
}

/// Returns the next step of an interrupted run.
fn after(
    recorded: &RecordedRun,
    now: Timestamp,
    ledger: Option<LedgerView>,
    project: &Project,
) -> Result<NextAction, ProjectRunError> {
    match recorded.next(now, ledger.unwrap_or_default()) {
        RunAction::StartSession(plan) => session(plan.number, plan.instruction, project),
        RunAction::Wait { until, .. } => Ok(NextAction::Wait { until }),
        RunAction::Hold => Ok(NextAction::Hold),
        RunAction::Finish { exit } => Ok(NextAction::Finish { exit }),
        // It was interrupted before it received the ledger.
        RunAction::Continue | RunAction::StopSession => {
            first(recorded.mode(), ledger.unwrap_or_default(), project)
        }
    }
}

fn session(
    number: u32,
    instruction: InstructionName,
    project: &Project,
) -> Result<NextAction, ProjectRunError> {
    Ok(NextAction::Session {
        number,
        text: ProjectInstructions::new(project.state_dir()).find(&instruction)?,
        tools: tool_names(&instruction),
        instruction,
    })
}

fn tool_names(instruction: &InstructionName) -> Vec<String> {
    // Only the names of the tools are used, so any ledger will do.
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::new(repository, Arc::new(SystemClock), Epoch::default());
    deliverable_tools(&store, instruction)
        .iter()
        .map(|tool| format!("mcp__{}__{}", Toolbox::SERVER, tool.definition().name))
        .collect()
}
