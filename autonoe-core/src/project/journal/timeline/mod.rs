//! What happened in a run, and when.

mod ledger_progress;
mod telling;

use jiff::Timestamp;

use self::telling::Telling;
use super::reader::Journal;
use crate::domain::{
    CostTotal, FlowReport, ForeignLedger, InstructionName, LedgerView, Mode, RunId, RunReport,
    SessionResult, StatusChange,
};
use crate::port::WaitReason;

/// What happened in a run, and when: what charts and pages of a run are made of.
///
/// [`RunStory`](super::RunStory) tells the same session by session, without times.
///
/// ```
/// use autonoe_core::{Journal, RunTimeline};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("journal.jsonl");
/// let journal = Journal::read(&path)?;
///
/// for story in journal.stories() {
///     let Some(timeline) = RunTimeline::of(&journal, &story.run) else { continue };
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
    /// What it was for; for a flow, the mode of its policy.
    pub mode: Mode,
    /// The name of the flow, if it was one.
    pub flow: Option<String>,
    /// When it started.
    pub from: Timestamp,
    /// When its last line was written.
    pub until: Timestamp,
    /// Its sessions in the order of their start. One that was lost and run again stands here for
    /// each time that it was started.
    pub sessions: Vec<SessionSpan>,
    /// When no session was under way, and why.
    pub idle: Vec<IdleSpan>,
    /// What it had cost, after each session.
    pub cost: Vec<CostPoint>,
    /// How the ledger stood, after each change of it.
    pub progress: Vec<ProgressPoint>,
    /// The changes of deliverables.
    pub changes: Vec<ChangeEntry>,
    /// The calls that were denied.
    pub denied: Vec<DeniedEntry>,
    /// The foreign changes of the ledger, after each of which it was restored.
    pub ledger_restored: Vec<RestoredEntry>,
    /// When the run accepted a ledger that was edited since the run before it.
    pub ledger_edited: Option<Timestamp>,
    /// Its outcome; `None` if it is under way or was interrupted.
    pub report: Option<RunReport>,
    /// What it came to, if it was a flow.
    pub flow_report: Option<FlowReport>,
}

/// A session, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSpan {
    /// Its number.
    pub number: u32,
    /// What the agent was told to do.
    pub instruction: InstructionName,
    /// When it started.
    pub from: Timestamp,
    /// When it ended; for a lost one, when it was last heard of; `None` if nothing is known of
    /// its end.
    pub until: Option<Timestamp>,
    /// What is known of it; `None` if it never ended.
    pub result: Option<SessionResult>,
    /// How many deliverables it created or changed.
    pub changes: u32,
    /// How many of its tool calls were denied.
    pub denied: u32,
}

/// A time in which no session was under way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdleSpan {
    /// Why.
    pub why: Idle,
    /// When it began.
    pub from: Timestamp,
    /// When it ended; `None` if nothing is known of its end.
    pub until: Option<Timestamp>,
}

/// Why no session was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idle {
    /// The run waited.
    Wait(WaitReason),
    /// A person had paused it.
    Paused,
    /// The process of the run was gone, until somebody resumed it.
    BrokenOff,
}

/// What a run had cost at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostPoint {
    /// When.
    pub at: Timestamp,
    /// The sum until then.
    pub total: CostTotal,
}

/// How the ledger stood at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgressPoint {
    /// When.
    pub at: Timestamp,
    /// The numbers.
    pub ledger: LedgerView,
}

/// A ledger that was restored because something other than the run changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredEntry {
    /// When.
    pub at: Timestamp,
    /// The last session that had started; 0 if none had.
    pub session: u32,
    /// What was found, and where it is kept.
    pub foreign: ForeignLedger,
}

/// A deliverable that was created or changed its status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeEntry {
    /// When.
    pub at: Timestamp,
    /// In which session.
    pub session: u32,
    /// The change.
    pub change: StatusChange,
}

/// A call that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeniedEntry {
    /// When.
    pub at: Timestamp,
    /// In which session.
    pub session: u32,
    /// The tool.
    pub tool: String,
    /// What it would have touched, where the journal has it.
    pub target: Option<String>,
    /// Who denied it.
    pub by: String,
    /// The reason, as the agent received it.
    pub reason: String,
    /// The setting with which the operator can allow the call, if there is one.
    pub remedy: Option<String>,
}

impl RunTimeline {
    /// Returns what `journal` has about `run`, or `None` if that is nothing.
    pub fn of(journal: &Journal, run: &RunId) -> Option<Self> {
        let mut entries = journal.entries().iter().filter(|entry| entry.run == *run);
        let first = entries.next()?;
        let mut telling = Telling::new(first);
        telling.tell(first);
        entries.for_each(|entry| telling.tell(entry));
        Some(telling.timeline)
    }
}
