//! [`InterruptedRun`], the interrupted run or flow of a project.

use autonoe_core::{Journal, Mode, Project, RecordedFlow, RecordedRun};

/// The interrupted run or flow of a project. Only the last one can be resumed.
pub(super) enum InterruptedRun {
    Run(Box<RecordedRun>),
    Flow(Box<RecordedFlow>),
}

impl InterruptedRun {
    /// Finds what was interrupted. Returns `None` for a journal that cannot be read: its other
    /// readers report the error.
    pub(super) fn find(project: &Project) -> Option<Self> {
        let journal = Journal::read(&project.journal_path()).ok()?;
        let run = journal.broken_off().map(|run| Self::Run(Box::new(run)));
        run.or_else(|| {
            journal
                .broken_off_flow()
                .map(|flow| Self::Flow(Box::new(flow)))
        })
    }

    /// Returns the run, if it is one in this mode.
    pub(super) fn run(&self, mode: Mode) -> Option<&RecordedRun> {
        match self {
            Self::Run(recorded) => Some(&**recorded).filter(|recorded| recorded.mode() == mode),
            Self::Flow(_) => None,
        }
    }

    /// Returns the flow, if it is the one of this name.
    pub(super) fn flow(&self, name: &str) -> Option<&RecordedFlow> {
        match self {
            Self::Flow(recorded) => Some(&**recorded).filter(|flow| flow.start.flow == name),
            Self::Run(_) => None,
        }
    }

    /// Returns the warning that it is not resumed.
    pub(super) fn left_warning(&self) -> String {
        match self {
            Self::Run(recorded) => format!(
                "the interrupted {} {} is left as it is",
                recorded.mode(),
                recorded.run()
            ),
            Self::Flow(flow) => format!(
                "the interrupted run {} of the flow {} is left as it is",
                flow.run, flow.start.flow
            ),
        }
    }
}
