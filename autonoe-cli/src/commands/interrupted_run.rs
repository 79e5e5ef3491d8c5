//! [`InterruptedRun`], the interrupted run or flow of a project.

use autonoe_core::project::Journal;
use autonoe_core::run::RecordedRun;
use autonoe_core::session::RecordedFlow;
use autonoe_core::{Mode, Project};

/// The interrupted run or flow of a project. Only the last one can be resumed.
pub(super) enum InterruptedRun {
    Run(Box<RecordedRun>),
    Flow(Box<RecordedFlow>),
}

impl InterruptedRun {
    /// Reads the journal and finds the interrupted run or flow. Returns `None` if the journal cannot
    /// be read: its other readers report the error.
    pub(super) fn find(project: &Project) -> Option<Self> {
        let journal = Journal::read(&project.journal_path()).ok()?;
        Self::from_journal(&journal)
    }

    /// Finds the interrupted run or flow in the journal of a project.
    pub(super) fn from_journal(journal: &Journal) -> Option<Self> {
        let run = journal
            .interrupted_run()
            .map(|run| Self::Run(Box::new(run)));
        run.or_else(|| {
            journal
                .interrupted_flow()
                .map(|flow| Self::Flow(Box::new(flow)))
        })
    }

    /// Returns the run, if it has this mode.
    pub(super) fn run(&self, mode: Mode) -> Option<&RecordedRun> {
        match self {
            Self::Run(recorded) => Some(&**recorded).filter(|recorded| recorded.mode() == mode),
            Self::Flow(_) => None,
        }
    }

    /// Returns the flow, if it has this name.
    pub(super) fn flow(&self, name: &str) -> Option<&RecordedFlow> {
        match self {
            Self::Flow(recorded) => Some(&**recorded).filter(|flow| flow.start.flow == name),
            Self::Run(_) => None,
        }
    }

    /// Returns the warning for an interrupted run that is not resumed.
    pub(super) fn left_warning(&self) -> String {
        match self {
            Self::Run(recorded) => format!(
                "the killed {} {} is not resumed",
                recorded.mode(),
                recorded.run()
            ),
            Self::Flow(flow) => format!(
                "the unfinished run {} of the flow {} is not resumed",
                flow.run, flow.start.flow
            ),
        }
    }
}
