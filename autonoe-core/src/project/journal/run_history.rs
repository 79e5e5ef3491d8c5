//! [`RunHistory`], the summary of a run from the lines of its journal.

use std::fmt;

use jiff::Timestamp;

use super::file_journal::JournalEntry;
use crate::agent::{BudgetUsage, CostTotal};
use crate::run::{
    FlowReport, JournalLine, RunAction, RunFact, RunLimits, RunMachine, RunReport, SessionPlan,
};
use crate::time::{Mode, RunId, format_time};

/// The summary of a run, from the lines of its journal so far. It stays small, however long the
/// journal is.
///
/// [`RunTimeline`](super::RunTimeline) has the sessions of a run, its changes and its denied calls.
///
/// ```
/// use autonoe_core::project::Journal;
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// # let project = Project::find(dir.path(), None)?;
/// for history in Journal::read(&project.journal_path())?.run_histories() {
///     println!("{}: {}, {}", history.run, history.stop_reason(), history.cost());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunHistory {
    /// The run.
    pub run: RunId,
    /// Its mode; `None` for a flow, and if its start is not in the journal.
    pub mode: Option<Mode>,
    /// The name of the flow; `None` if it was not a flow.
    pub flow: Option<String>,
    /// The number of resumptions.
    pub resumed: u32,
    /// The number of its sessions. A session that was run again counts once.
    pub sessions: u32,
    cost: CostTotal,
    ended: Option<RunStopReason>,
    /// The state of a run that has started.
    machine: Option<RunMachine>,
    /// The running session of a flow.
    running_session: Option<u32>,
}

/// The reason why a run is no longer running.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunStopReason {
    /// It ended.
    Ended(RunReport),
    /// It was killed: its process ended before the run did, during this action.
    Interrupted(RunAction),
    /// It was a flow and ended.
    FlowEnded(FlowReport),
    /// It was a flow and has no recorded end: its process was killed, or it was cancelled or hit a
    /// limit and can be resumed.
    FlowInterrupted {
        /// The session that was running.
        session: Option<u32>,
    },
}

impl fmt::Display for RunStopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(report) => write!(f, "it ended: {}", report.exit),
            Self::FlowEnded(report) => write!(f, "it ended: {}", report.exit),
            Self::Interrupted(RunAction::StartSession(SessionPlan { number, .. }))
            | Self::FlowInterrupted {
                session: Some(number),
            } => write!(f, "it was killed in session {number}"),
            Self::Interrupted(RunAction::Wait { until, .. }) => {
                let until = format_time(*until);
                write!(f, "it was killed while it waited until {until}")
            }
            Self::Interrupted(RunAction::Hold) => f.write_str("it was killed while it was paused"),
            Self::Interrupted(_) => f.write_str("it was killed between two sessions"),
            // A flow that is cancelled or hits a limit has no recorded end either.
            Self::FlowInterrupted { session: None } => f.write_str("it was stopped before its end"),
        }
    }
}

impl RunHistory {
    /// Starts the history of `run`, without any lines.
    ///
    /// ```
    /// use autonoe_core::project::RunHistory;
    /// use autonoe_core::RunId;
    ///
    /// assert_eq!(RunHistory::new(RunId::new("shop")).mode, None);
    /// ```
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            mode: None,
            flow: None,
            resumed: 0,
            sessions: 0,
            cost: CostTotal::default(),
            ended: None,
            machine: None,
            running_session: None,
        }
    }

    /// Adds the next line of the run.
    pub fn add(&mut self, entry: &JournalEntry) {
        match &entry.line {
            JournalLine::RunStarted { limits, .. } => {
                self.mode.get_or_insert(limits.mode);
                self.machine
                    .get_or_insert_with(|| RunMachine::new(limits.clone()));
            }
            JournalLine::FlowStarted { flow, .. } => {
                self.flow.get_or_insert_with(|| flow.clone());
            }
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => self.resumed += 1,
            JournalLine::Fact { fact, action } => {
                if let Some(machine) = &mut self.machine {
                    let _ = machine.apply(fact.clone());
                }
                if let RunFact::SessionEnded { result, .. } = fact {
                    self.session_ended(result.cost);
                }
                if let RunAction::StartSession(plan) = action {
                    self.session_started(plan.number);
                }
            }
            JournalLine::SessionStarted { number, .. } => {
                self.running_session = Some(*number);
                self.session_started(*number);
            }
            JournalLine::SessionEnded { result, .. } => {
                self.running_session = None;
                self.session_ended(result.cost);
            }
            JournalLine::RunEnded { report } => {
                self.ended
                    .get_or_insert_with(|| RunStopReason::Ended(report.clone()));
            }
            JournalLine::FlowEnded { report, .. } => {
                self.ended
                    .get_or_insert_with(|| RunStopReason::FlowEnded(report.clone()));
            }
            JournalLine::StatusChanged { .. }
            | JournalLine::Deprecated { .. }
            | JournalLine::Verified { .. }
            | JournalLine::Denied { .. }
            | JournalLine::LedgerSave { .. }
            | JournalLine::LedgerRestored { .. }
            | JournalLine::LedgerEdited { .. }
            | JournalLine::FlowFact { .. } => {}
        }
    }

    // Until a session ends, its cost is unknown, also if it is lost with its process.
    fn session_started(&mut self, number: u32) {
        self.sessions = self.sessions.max(number);
        self.cost.merge(CostTotal::unknown());
    }

    fn session_ended(&mut self, cost: CostTotal) {
        self.cost.unknown_parts = self.cost.unknown_parts.saturating_sub(1);
        self.cost.merge(cost);
    }

    /// Returns the reason why the run stopped, according to the lines so far. A running run looks
    /// like an interrupted one; the run lock distinguishes them.
    pub fn stop_reason(&self) -> RunStopReason {
        match (&self.ended, &self.flow) {
            (Some(ended), _) => ended.clone(),
            (None, Some(_)) => RunStopReason::FlowInterrupted {
                session: self.running_session,
            },
            (None, None) => {
                let action = self.machine.as_ref().map(RunMachine::action);
                RunStopReason::Interrupted(action.unwrap_or(RunAction::Continue))
            }
        }
    }

    /// Returns the cost of its sessions. A session that was lost with its process is an unknown
    /// part.
    pub fn cost(&self) -> CostTotal {
        self.cost
    }

    /// Returns the limits of the run, as of the lines so far; `None` for a flow.
    pub fn limits(&self) -> Option<&RunLimits> {
        self.machine.as_ref().map(RunMachine::limits)
    }

    /// Returns what the run has spent of its budget at `now`; `None` for a flow.
    ///
    /// The time counts from the start of the run, or from the resumption that set the time limit.
    pub fn budget_usage(&self, now: Timestamp) -> Option<BudgetUsage> {
        self.machine.as_ref().map(|machine| machine.spent(now))
    }
}
