//! `Facts`, the data of a report.

use autonoe_core::project::{
    FileDeliverableRepository, Journal, RunHistory, RunLock, RunStopReason, RunTimeline,
};
use autonoe_core::{DeliverableStatus, Project};

use crate::error::{CliError, error_chain};

/// Data of a report.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The name of the project: that of its directory.
    pub(super) project: String,
    pub(super) timeline: RunTimeline,
    pub(super) run_state: RunState,
    pub(super) deliverables: Deliverables,
}

/// State of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// The run succeeded.
    Done(String),
    /// The run ended without success.
    Stopped(String),
    /// The run is in progress.
    InProgress,
    /// The process of the run ended before the run did.
    Interrupted(String),
}

/// Deliverables of the report.
#[derive(Clone, Debug)]
pub(super) enum Deliverables {
    /// All deliverables of the current ledger.
    Ledger(Vec<Line>),
    /// The deliverables that the run changed, from its journal. The ledger is newer or unreadable.
    Journal { lines: Vec<Line>, reason: String },
}

/// A deliverable.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) criteria: Vec<String>,
    pub(super) status: DeliverableStatus,
    pub(super) deprecated: bool,
    pub(super) verified: bool,
}

impl Facts {
    /// Collects the data about the run of `run_history`.
    pub(crate) fn collect(
        project: &Project,
        journal: &Journal,
        histories: &[RunHistory],
        run_history: &RunHistory,
    ) -> Result<Self, CliError> {
        let timeline = RunTimeline::from_journal(journal, &run_history.run)
            .ok_or_else(|| CliError::failure("the journal has no entries of this run"))?;
        let is_newest = histories.last().map(|newest| &newest.run) == Some(&run_history.run);
        // Only the newest run can be in progress.
        let is_in_progress = is_newest && RunLock::is_held(project)?;
        let run_state = RunState::new(&run_history.stop_reason(), is_in_progress);
        let deliverables = if is_newest {
            from_ledger(project, &timeline)
        } else {
            Deliverables::Journal {
                lines: from_journal(&timeline),
                reason: "Later runs have changed the ledger. These are the deliverables that this \
                      run changed, in their state at the end of the run."
                    .to_owned(),
            }
        };
        Ok(Self {
            project: project_name(project),
            timeline,
            run_state,
            deliverables,
        })
    }

    /// Returns the data about the newest run of a project, from its timeline so far.
    pub(crate) fn live(
        project: &Project,
        timeline: RunTimeline,
        stop_reason: &RunStopReason,
        is_in_progress: bool,
    ) -> Self {
        Self {
            project: project_name(project),
            run_state: RunState::new(stop_reason, is_in_progress),
            deliverables: from_ledger(project, &timeline),
            timeline,
        }
    }
}

/// Returns the name of a project: that of its directory.
pub(crate) fn project_name(project: &Project) -> String {
    let name = project.root().file_name().unwrap_or_default();
    if name.is_empty() {
        "project".to_owned()
    } else {
        name.to_string_lossy().into_owned()
    }
}

impl RunState {
    fn new(stop_reason: &RunStopReason, is_in_progress: bool) -> Self {
        match stop_reason {
            RunStopReason::Ended(report) if report.exit.is_success() => {
                Self::Done(report.exit.to_string())
            }
            RunStopReason::Ended(report) => Self::Stopped(report.exit.to_string()),
            RunStopReason::FlowEnded(report) if report.exit.is_success() => {
                Self::Done(report.exit.to_string())
            }
            RunStopReason::FlowEnded(report) => Self::Stopped(report.exit.to_string()),
            _ if is_in_progress => Self::InProgress,
            stop_reason => Self::Interrupted(stop_reason.to_string()),
        }
    }

    /// Returns the state in one or two words.
    pub(super) fn headline(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Stopped(_) => "stopped",
            Self::InProgress => "in progress",
            Self::Interrupted(_) => "unfinished",
        }
    }
}

fn from_ledger(project: &Project, timeline: &RunTimeline) -> Deliverables {
    let repository = FileDeliverableRepository::from_path(project.status_path());
    let state = match repository.load_now() {
        Ok(Some(snapshot)) => snapshot.state,
        Ok(None) => return Deliverables::Ledger(Vec::new()),
        Err(error) => {
            return Deliverables::Journal {
                lines: from_journal(timeline),
                reason: format!(
                    "The ledger could not be read ({}). These are the deliverables that this run \
                     changed, in their state at the end of the run.",
                    error_chain(&error)
                ),
            };
        }
    };
    let lines = state.ledger.deliverables().iter().map(|deliverable| Line {
        id: deliverable.id().to_string(),
        description: deliverable.description().to_owned(),
        criteria: deliverable.acceptance_criteria().to_vec(),
        status: deliverable.status(),
        deprecated: !deliverable.is_active(),
        verified: state.verification.is_verified(deliverable.id()),
    });
    Deliverables::Ledger(lines.collect())
}

/// Returns the deliverables that a run changed, in the order of the first change.
fn from_journal(timeline: &RunTimeline) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in &timeline.changes {
        let change = &entry.change;
        let line = Line {
            id: change.id.to_string(),
            description: change.description.clone(),
            criteria: Vec::new(),
            status: change.status,
            deprecated: false,
            verified: false,
        };
        match places.get(&change.id) {
            Some(&place) => lines[place] = line,
            None => {
                places.insert(&change.id, lines.len());
                lines.push(line);
            }
        }
    }
    lines
}
