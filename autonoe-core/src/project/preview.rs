//! What a run would do, without doing it.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    AgentConfig, EffectiveConfig, FileDeliverableRepository, InstructionText, Journal, Project,
    ProjectInstructions, ProjectRunError, RunLock, RunLockHeld, SandboxSwitch,
};
use crate::domain::{Epoch, ExitReason, InstructionName, LedgerView, Mode, RunId, Workflow};
use crate::port::{MemoryRepository, SystemClock, Toolbox};
use crate::run::{GivenLimits, RecordedRun, RunAction, RunLimits};
use crate::tools::{LedgerBook, deliverable_tools};

/// What a [`ProjectRun`](super::ProjectRun) would do first. Nothing is started or written to find out.
///
/// ```
/// use autonoe_core::{InstructionName, Mode, NextStep, Project, RunPreview, SandboxSwitch};
///
/// # let dir = tempfile::tempdir()?;
/// # std::fs::write(dir.path().join("SPEC.md"), "# Shop")?;
/// # let working_dir = dir.path();
/// let project = Project::find(working_dir, None)?;
///
/// let preview = RunPreview::of(&project, Mode::Run, SandboxSwitch::default())?;
///
/// let NextStep::Session { instruction, .. } = &preview.next else { panic!("nothing is done yet") };
/// assert_eq!(instruction, &InstructionName::Initializer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunPreview {
    /// The settings, each with where it comes from.
    pub config: EffectiveConfig,
    /// The numbers of the ledger; `None` if there is none yet.
    pub ledger: Option<LedgerView>,
    /// The interrupted run of the project that would be resumed.
    pub resumes: Option<ResumedRun>,
    /// What would come first.
    pub next: NextStep,
    /// Who would be in the way: another run is under way.
    pub held: Option<RunLockHeld>,
}

/// An interrupted run that would be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumedRun {
    /// The run.
    pub run: RunId,
    /// The limits that it would go on under.
    pub limits: RunLimits,
}

/// What a run would do first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// It would start a session.
    Session {
        /// Its number.
        number: u32,
        /// What the agent is told to do.
        instruction: InstructionName,
        /// The text of that.
        text: InstructionText,
        /// The deliverable tools that the agent has, as agents call them.
        tools: Vec<String>,
    },
    /// It would wait, as it did when it was interrupted.
    Wait {
        /// Until when.
        until: Timestamp,
    },
    /// It would hold until a person resumes it.
    Hold,
    /// It would end at once: there is nothing to do.
    Finish {
        /// Why.
        exit: ExitReason,
    },
}

impl RunPreview {
    /// Looks what a run of `mode` in `project` would do.
    ///
    /// # Errors
    ///
    /// The run could not start: `SPEC.md` is missing or blank, or a file of the project cannot be
    /// understood. That another run is under way is no error here.
    pub fn of(
        project: &Project,
        mode: Mode,
        sandbox: SandboxSwitch,
    ) -> Result<Self, ProjectRunError> {
        let given = GivenLimits::default();
        Self::under(project, mode, sandbox, &given, Timestamp::UNIX_EPOCH)
    }

    /// Looks what a run of `mode` in `project` would do if it were started now with the limits
    /// that are `given`.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub fn under(
        project: &Project,
        mode: Mode,
        sandbox: SandboxSwitch,
        given: &GivenLimits,
        now: Timestamp,
    ) -> Result<Self, ProjectRunError> {
        project.specification()?;
        let config = AgentConfig::load(project.config_path())?;
        let config = EffectiveConfig::merge(config, mode, sandbox)?;
        let repository = FileDeliverableRepository::at(project.status_path());
        let snapshot = repository.load_now()?;
        if snapshot.is_none() {
            project.check_journal_has_no_deliverables()?;
        }
        repository.check_takeover(snapshot.as_ref())?;
        let ledger = snapshot.map(|snapshot| snapshot.state.view());
        let broke_off = Journal::read(&project.journal_path())?
            .broken_off()
            .filter(|recorded| recorded.mode() == mode)
            .map(|recorded| recorded.with_limits(given.clone()));
        let next = match &broke_off {
            Some(recorded) => after(recorded, now, ledger, project)?,
            None => first(mode, ledger.unwrap_or_default(), project)?,
        };
        Ok(Self {
            config,
            ledger,
            resumes: broke_off.map(|recorded| ResumedRun {
                run: recorded.run().clone(),
                limits: recorded.limits(),
            }),
            next,
            held: RunLock::held(project)?,
        })
    }
}

/// Says what a new run would do first.
fn first(mode: Mode, ledger: LedgerView, project: &Project) -> Result<NextStep, ProjectRunError> {
    let workflow = Workflow::new(mode);
    match workflow.completion(&ledger, false) {
        Some(exit) => Ok(NextStep::Finish { exit }),
        None => session(1, workflow.instruction(&ledger, false), project),
    }
}

/// Returns what an interrupted run would do next.
fn after(
    recorded: &RecordedRun,
    now: Timestamp,
    ledger: Option<LedgerView>,
    project: &Project,
) -> Result<NextStep, ProjectRunError> {
    match recorded.next(now, ledger.unwrap_or_default()) {
        RunAction::StartSession(plan) => session(plan.number, plan.instruction, project),
        RunAction::Wait { until, .. } => Ok(NextStep::Wait { until }),
        RunAction::Hold => Ok(NextStep::Hold),
        RunAction::Finish { exit } => Ok(NextStep::Finish { exit }),
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
) -> Result<NextStep, ProjectRunError> {
    Ok(NextStep::Session {
        number,
        text: ProjectInstructions::new(project.state_dir()).find(&instruction)?,
        tools: tool_names(&instruction),
        instruction,
    })
}

fn tool_names(instruction: &InstructionName) -> Vec<String> {
    // They are only asked for their names, so any ledger does.
    let repository = Arc::new(MemoryRepository::new());
    let book = LedgerBook::new(repository, Arc::new(SystemClock), Epoch::default());
    deliverable_tools(&book, instruction)
        .iter()
        .map(|tool| format!("mcp__{}__{}", Toolbox::SERVER, tool.definition().name))
        .collect()
}
