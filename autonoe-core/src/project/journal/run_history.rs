//! [`RunHistory`], the recorded history of a run, session by session.

use std::fmt;

use jiff::Timestamp;

use super::file_journal::JournalEntry;
use crate::agent::{BudgetUsage, CostTotal, SessionReport};
use crate::event::InstructionName;
use crate::run::{
    FlowReport, JournalLine, RunAction, RunFact, RunLimits, RunMachine, RunReport, SessionPlan,
};
use crate::time::{Mode, RunId, format_time};

/// The recorded history of a run, session by session.
///
/// ```
/// use autonoe_core::project::Journal;
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// # let project = Project::find(dir.path(), None)?;
/// for run_history in Journal::read(&project.journal_path())?.run_histories() {
///     println!("{}: {}, {}", run_history.run, run_history.stop_reason(), run_history.cost());
///     for session in &run_history.sessions {
///         println!("  {} {}: {} blocked", session.number, session.instruction, session.blocked.len());
///     }
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
    /// The time of its start.
    pub started_at: Option<Timestamp>,
    /// The time of its last line.
    pub last_line_at: Option<Timestamp>,
    /// The number of resumptions.
    pub resumed: u32,
    /// Its sessions, in order. A session that was run again is listed once.
    pub sessions: Vec<SessionHistory>,
    stop_reason: RunStopReason,
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
            Self::FlowInterrupted { session: None } => {
                f.write_str("it stopped between two sessions")
            }
        }
    }
}

impl RunHistory {
    /// Returns the reason why the run stopped. A running run looks like an interrupted one; the run
    /// lock distinguishes them.
    pub fn stop_reason(&self) -> &RunStopReason {
        &self.stop_reason
    }

    /// Returns the cost of its sessions. A session that was lost with its process is an unknown
    /// part.
    pub fn cost(&self) -> CostTotal {
        let mut total = CostTotal::default();
        for session in &self.sessions {
            let lost = session.starts - u32::from(session.result.is_some());
            total.unknown_parts = total.unknown_parts.saturating_add(lost);
            if let Some(result) = &session.result {
                total.merge(result.cost);
            }
        }
        total
    }

    fn add_line(&mut self, line: &JournalLine, at: Timestamp) {
        match line {
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => self.resumed += 1,
            JournalLine::Fact { fact, action } => {
                match fact {
                    RunFact::SessionEnded { number, result, .. } => {
                        self.ended(*number, result, at);
                    }
                    RunFact::InstructionSelected {
                        number,
                        instruction,
                    } => {
                        if let Some(session) = self.session(*number) {
                            session.instruction = instruction.clone();
                        }
                    }
                    _ => {}
                }
                if let RunAction::StartSession(plan) = action {
                    self.started(plan.number, &plan.instruction, at);
                }
            }
            JournalLine::SessionStarted {
                number,
                instruction,
            } => self.started(*number, instruction, at),
            JournalLine::SessionEnded { number, result } => self.ended(*number, result, at),
            JournalLine::StatusChanged { session, .. }
            | JournalLine::Deprecated { session, .. }
            | JournalLine::Verified { session, .. } => {
                if let Some(session) = self.session(*session) {
                    session.changes += 1;
                }
            }
            JournalLine::Denied {
                session,
                tool,
                target,
                by,
                reason,
                ..
            } => {
                if let Some(session) = self.session(*session) {
                    session.blocked.push(BlockedCall {
                        at,
                        tool: tool.clone(),
                        target: target.clone(),
                        by: by.clone(),
                        reason: reason.clone(),
                    });
                }
            }
            JournalLine::RunStarted { .. }
            | JournalLine::RunEnded { .. }
            | JournalLine::LedgerSave { .. }
            | JournalLine::LedgerRestored { .. }
            | JournalLine::LedgerEdited { .. }
            | JournalLine::FlowStarted { .. }
            | JournalLine::FlowFact { .. }
            | JournalLine::FlowEnded { .. } => {}
        }
    }

    fn started(&mut self, number: u32, instruction: &InstructionName, at: Timestamp) {
        match self.session(number) {
            Some(session) => {
                session.starts += 1;
                session.started_at = at;
            }
            None => {
                let run_history = SessionHistory::new(number, instruction.clone(), at);
                self.sessions.push(run_history);
            }
        }
    }

    fn ended(&mut self, number: u32, result: &SessionReport, at: Timestamp) {
        if let Some(session) = self.session(number) {
            session.ended_at = Some(at);
            session.result = Some(result.clone());
        }
    }

    fn session(&mut self, number: u32) -> Option<&mut SessionHistory> {
        // Numbers increase, and most lines are about the last session.
        let mut latest_first = self.sessions.iter_mut().rev();
        latest_first
            .find(|session| session.number <= number)
            .filter(|session| session.number == number)
    }
}

/// Builds a [`RunHistory`] from the lines of a run, one after the other.
///
/// ```
/// use autonoe_core::project::RunHistoryBuilder;
/// use autonoe_core::RunId;
///
/// let run_history = RunHistoryBuilder::new(RunId::new("shop")).build();
///
/// assert_eq!(run_history.started_at, None);
/// ```
#[derive(Debug)]
pub struct RunHistoryBuilder {
    run_history: RunHistory,
    ended: Option<RunStopReason>,
    /// The state of a run that has started.
    machine: Option<RunMachine>,
    /// The running session of a flow.
    session_under_way: Option<u32>,
    has_denied_calls: bool,
}

impl RunHistoryBuilder {
    /// Starts the history of `run`, without any lines.
    pub fn new(run: RunId) -> Self {
        Self {
            run_history: RunHistory {
                run,
                mode: None,
                flow: None,
                started_at: None,
                last_line_at: None,
                resumed: 0,
                sessions: Vec::new(),
                stop_reason: RunStopReason::Interrupted(RunAction::Continue),
            },
            ended: None,
            machine: None,
            session_under_way: None,
            has_denied_calls: true,
        }
    }

    /// Leaves out denied tool calls, which can be most of a long journal.
    #[must_use]
    pub fn without_denied_calls(mut self) -> Self {
        self.has_denied_calls = false;
        self
    }

    /// Adds the next line of the run.
    pub fn add(&mut self, entry: &JournalEntry) {
        let (run_history, at) = (&mut self.run_history, entry.at);
        run_history.started_at.get_or_insert(at);
        run_history.last_line_at = Some(at);
        match &entry.line {
            JournalLine::RunStarted { limits, .. } => {
                run_history.mode.get_or_insert(limits.mode);
                self.machine
                    .get_or_insert_with(|| RunMachine::new(limits.clone()));
            }
            JournalLine::FlowStarted { flow, .. } => {
                run_history.flow.get_or_insert_with(|| flow.clone());
            }
            JournalLine::Fact { fact, .. } => {
                if let Some(machine) = &mut self.machine {
                    let _ = machine.apply(fact.clone());
                }
            }
            JournalLine::SessionStarted { number, .. } => self.session_under_way = Some(*number),
            JournalLine::SessionEnded { .. } => self.session_under_way = None,
            JournalLine::RunEnded { report } => {
                self.ended
                    .get_or_insert_with(|| RunStopReason::Ended(report.clone()));
            }
            JournalLine::FlowEnded { report, .. } => {
                self.ended
                    .get_or_insert_with(|| RunStopReason::FlowEnded(report.clone()));
            }
            JournalLine::Denied { .. } if !self.has_denied_calls => return,
            _ => {}
        }
        self.run_history.add_line(&entry.line, at);
    }

    /// Returns the reason why the run stopped, according to the lines so far. A running run looks
    /// like an interrupted one.
    pub fn stop_reason(&self) -> RunStopReason {
        match (&self.ended, &self.run_history.flow) {
            (Some(ended), _) => ended.clone(),
            (None, Some(_)) => RunStopReason::FlowInterrupted {
                session: self.session_under_way,
            },
            (None, None) => {
                let action = self.machine.as_ref().map(RunMachine::action);
                RunStopReason::Interrupted(action.unwrap_or(RunAction::Continue))
            }
        }
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

    /// Returns the history so far.
    pub fn build(mut self) -> RunHistory {
        self.run_history.stop_reason = self.stop_reason();
        self.run_history
    }
}

/// The recorded history of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionHistory {
    /// Its number.
    pub number: u32,
    /// The agent's instruction.
    pub instruction: InstructionName,
    /// The time of its last start.
    pub started_at: Timestamp,
    /// The number of starts: more than one if it was lost with its process.
    pub starts: u32,
    /// The time of its end; `None` if it never ended.
    pub ended_at: Option<Timestamp>,
    /// Its result; `None` if it never ended.
    pub result: Option<SessionReport>,
    /// The number of deliverables that it created or changed.
    pub changes: u32,
    /// The denied tool calls, in order.
    pub blocked: Vec<BlockedCall>,
}

/// A denied tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedCall {
    /// The time of the denial.
    pub at: Timestamp,
    /// The tool.
    pub tool: String,
    /// The target of the call, if the journal has it: the command, the files or the address.
    pub target: Option<String>,
    /// The guard or hook that denied it.
    pub by: String,
    /// The reason.
    pub reason: String,
}

impl SessionHistory {
    pub(super) fn new(number: u32, instruction: InstructionName, started_at: Timestamp) -> Self {
        Self {
            number,
            instruction,
            started_at,
            starts: 1,
            ended_at: None,
            result: None,
            changes: 0,
            blocked: Vec::new(),
        }
    }
}
