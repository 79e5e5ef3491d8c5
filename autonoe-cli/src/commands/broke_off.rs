//! What broke off last in a project.

use autonoe_core::{Journal, Mode, Project, RecordedFlow, RecordedRun};

/// What broke off last in a project: only the last one can be gone on with.
pub(super) enum BrokeOff {
    Run(Box<RecordedRun>),
    Flow(Box<RecordedFlow>),
}

impl BrokeOff {
    /// Looks what broke off. A journal that cannot be read is told by whoever needs it.
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

    /// Says that it is not gone on with.
    pub(super) fn left(&self) -> String {
        match self {
            Self::Run(recorded) => format!(
                "a {} that broke off, {}, is left as it is",
                recorded.mode(),
                recorded.run()
            ),
            Self::Flow(flow) => format!(
                "a run of the flow {} that broke off, {}, is left as it is",
                flow.start.flow, flow.run
            ),
        }
    }
}
