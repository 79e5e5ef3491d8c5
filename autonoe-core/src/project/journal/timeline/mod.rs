//! [`RunTimeline`], the recorded history of a run with times.

mod builder;

use std::collections::HashMap;

use jiff::Timestamp;

use super::reader::Journal;
use crate::agent::{CostTotal, SessionReport};
use crate::event::{InstructionName, WaitReason};
use crate::ledger::{
    DeliverableId, DeliverableStatus, ForeignLedger, LedgerCounts, LedgerView, StatusChange,
};
use crate::run::{FlowReport, RunReport};
use crate::time::{Mode, RunId};

pub use self::builder::RunTimelineBuilder;

/// The recorded history of a run with times: the data of charts and pages about a run.
///
/// [`RunHistory`](super::RunHistory) is a summary of a run.
///
/// ```
/// use autonoe_core::project::{Journal, RunTimeline};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("journal.jsonl");
/// let journal = Journal::read(&path)?;
///
/// for run_history in journal.run_histories() {
///     let Some(timeline) = RunTimeline::from_journal(&journal, &run_history.run) else { continue };
///     for session in &timeline.sessions {
///         println!("{} {} {:?}", session.from, session.number, session.until);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTimeline {
    /// The run.
    pub run: RunId,
    /// Its mode; for a flow, the mode of its policy.
    pub mode: Mode,
    /// The name of the flow, if it was one.
    pub flow: Option<String>,
    /// The time of its start.
    pub from: Timestamp,
    /// The time of its last line.
    pub until: Timestamp,
    /// Its sessions in the order of their start. A session that was lost and run again is listed
    /// once per start.
    pub sessions: Vec<SessionSpan>,
    /// The times without a running session, with their reasons.
    pub idle: Vec<IdleSpan>,
    /// The total cost after each session.
    pub cost: Vec<CostPoint>,
    /// The counts of the ledger after each change.
    pub progress: Vec<ProgressPoint>,
    /// The changes of deliverables.
    pub changes: Vec<ChangeEntry>,
    /// The denied calls.
    pub denied: Vec<DeniedEntry>,
    /// The foreign changes of the ledger, after each of which it was restored.
    pub ledger_restored: Vec<RestoredEntry>,
    /// The time when the run accepted a ledger that was edited since the previous run.
    pub ledger_edited: Option<Timestamp>,
    /// Its outcome; `None` if it is running or was interrupted.
    pub report: Option<RunReport>,
    /// The report, if it was a flow.
    pub flow_report: Option<FlowReport>,
}

/// A session, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSpan {
    /// Its number.
    pub number: u32,
    /// The agent's instruction.
    pub instruction: InstructionName,
    /// The time of its start.
    pub from: Timestamp,
    /// The time of its end; for a lost session, the time of its last line; `None` if its end is
    /// unknown.
    pub until: Option<Timestamp>,
    /// Its result; `None` if it never ended.
    pub result: Option<SessionReport>,
    /// The number of deliverables that it created or changed.
    pub changes: u32,
    /// The number of its denied tool calls.
    pub denied: u32,
}

/// A time without a running session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdleSpan {
    /// The reason.
    pub reason: IdleReason,
    /// The start of the time.
    pub from: Timestamp,
    /// The end of the time; `None` if it is unknown.
    pub until: Option<Timestamp>,
}

/// The reason why no session was running.
// Not `non_exhaustive`, as `WaitReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleReason {
    /// The run waited.
    Wait(WaitReason),
    /// The operator had paused the run.
    Paused,
    /// The process of the run was gone until the run was resumed.
    Interrupted,
}

/// The total cost of a run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostPoint {
    /// The time.
    pub at: Timestamp,
    /// The total until then.
    pub total: CostTotal,
}

/// The counts of the ledger at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgressPoint {
    /// The time.
    pub at: Timestamp,
    /// The counts.
    pub ledger: LedgerView,
}

/// A ledger that was restored because something other than the run changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredEntry {
    /// The time of the restoration.
    pub at: Timestamp,
    /// The last session that had started; 0 if none had.
    pub session: u32,
    /// The foreign content, and the place where it was saved.
    pub foreign: ForeignLedger,
}

/// A deliverable that was created or changed its status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeEntry {
    /// The time of the change.
    pub at: Timestamp,
    /// The session of the change.
    pub session: u32,
    /// The change.
    pub change: StatusChange,
}

/// A denied call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeniedEntry {
    /// The time of the denial.
    pub at: Timestamp,
    /// The session of the call.
    pub session: u32,
    /// The tool.
    pub tool: String,
    /// The target of the call, if the journal has it.
    pub target: Option<String>,
    /// The guard or hook that denied it.
    pub by: String,
    /// The reason, as the agent received it.
    pub reason: String,
    /// The setting with which the operator can allow the call, if there is one.
    pub remedy: Option<String>,
}

impl RunTimeline {
    /// Returns the timeline of `run` from `journal`, or `None` if there are no lines of it.
    pub fn from_journal(journal: &Journal, run: &RunId) -> Option<Self> {
        let mut entries = journal.entries().iter().filter(|entry| entry.run == *run);
        let first = entries.next()?;
        let mut builder = RunTimelineBuilder::new(first);
        builder.add(first);
        entries.for_each(|entry| builder.add(entry));
        Some(builder.timeline)
    }
}

/// The state of the ledger, from the changes since its last recorded count.
///
/// An unknown value (the status of a deprecated deliverable without a recorded change) is corrected
/// by the next count.
#[derive(Clone, Debug, Default)]
struct LedgerProgress {
    view: LedgerView,
    known: HashMap<DeliverableId, DeliverableStatus>,
}

impl LedgerProgress {
    /// Sets the counts.
    fn record_ledger_view(&mut self, view: LedgerView) {
        self.view = view;
    }

    /// Applies a status change and returns the new counts.
    fn changed(&mut self, change: &StatusChange) -> LedgerView {
        match change.previous {
            Some(previous) => self.decrement(previous),
            None => self.view.counts.total += 1,
        }
        match change.status {
            DeliverableStatus::Passed => self.view.counts.passed += 1,
            DeliverableStatus::Blocked => self.view.counts.blocked += 1,
            DeliverableStatus::Pending => {}
        }
        self.known.insert(change.id.clone(), change.status);
        self.view
    }

    /// Applies the deprecation of a deliverable and returns the new counts.
    fn deprecated(&mut self, id: &DeliverableId) -> LedgerView {
        if let Some(status) = self.known.remove(id) {
            self.decrement(status);
        }
        let LedgerCounts {
            total, deprecated, ..
        } = &mut self.view.counts;
        *total = total.saturating_sub(1);
        *deprecated += 1;
        self.view
    }

    /// Applies the verification of a deliverable and returns the new counts.
    fn verified(&mut self) -> LedgerView {
        let all = self.view.counts.total;
        self.view.verified = (self.view.verified + 1).min(all);
        self.view
    }

    fn decrement(&mut self, status: DeliverableStatus) {
        let counts = &mut self.view.counts;
        let count = match status {
            DeliverableStatus::Passed => &mut counts.passed,
            DeliverableStatus::Blocked => &mut counts.blocked,
            DeliverableStatus::Pending => return,
        };
        *count = count.saturating_sub(1);
    }
}
