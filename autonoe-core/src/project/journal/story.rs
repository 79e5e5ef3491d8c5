//! What a journal tells about a run.

use std::fmt;

use jiff::Timestamp;

use super::entry::JournalEntry;
use super::session_story::{BlockedCall, SessionStory};
use crate::domain::{
    CostTotal, FlowReport, InstructionName, Mode, RunId, RunReport, SessionResult, format_time,
};
use crate::run::{JournalLine, RunAction, RunFact, RunMachine, SessionPlan};

/// What happened in a run, session by session.
///
/// ```
/// use autonoe_core::{Journal, Project};
///
/// # let dir = tempfile::tempdir()?;
/// # let project = Project::find(dir.path(), None)?;
/// for story in Journal::read(&project.journal_path())?.stories() {
///     println!("{}: {}, {}", story.run, story.why_did_it_stop(), story.cost());
///     for session in &story.sessions {
///         println!("  {} {}: {} blocked", session.number, session.instruction, session.blocked.len());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStory {
    /// The run.
    pub run: RunId,
    /// What it was for; `None` for a flow, and if its start is not in the journal.
    pub mode: Option<Mode>,
    /// The name of the flow; `None` if it was none.
    pub flow: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When its last line was written.
    pub last_heard_of: Option<Timestamp>,
    /// How often it was resumed.
    pub resumed: u32,
    /// Its sessions, in order. One that was run again stands here once.
    pub sessions: Vec<SessionStory>,
    why: WhyStopped,
}

/// Why a run is not under way any more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyStopped {
    /// It came to its end.
    Ended(RunReport),
    /// Its process was gone before it came to its end; this was under way.
    BrokeOff(RunAction),
    /// It was a flow and came to its end.
    FlowEnded(FlowReport),
    /// It was a flow, and its process was gone before it came to its end.
    FlowBrokeOff {
        /// The session that was under way.
        session: Option<u32>,
    },
}

impl fmt::Display for WhyStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(report) => write!(f, "it ended: {}", report.exit),
            Self::FlowEnded(report) => write!(f, "it ended: {}", report.exit),
            Self::BrokeOff(RunAction::StartSession(SessionPlan { number, .. }))
            | Self::FlowBrokeOff {
                session: Some(number),
            } => write!(f, "it was interrupted in session {number}"),
            Self::BrokeOff(RunAction::Wait { until, .. }) => {
                let until = format_time(*until);
                write!(f, "it was interrupted while it waited until {until}")
            }
            Self::BrokeOff(RunAction::Hold) => {
                f.write_str("it was interrupted while it was paused")
            }
            Self::BrokeOff(_) | Self::FlowBrokeOff { session: None } => {
                f.write_str("it was interrupted between two sessions")
            }
        }
    }
}

impl RunStory {
    /// Returns why the run stopped. A run that is under way looks like an interrupted one; the run
    /// lock tells them apart.
    pub fn why_did_it_stop(&self) -> &WhyStopped {
        &self.why
    }

    /// Returns what its sessions have cost. One that was lost with its process is an unknown part.
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

    fn tell(&mut self, line: &JournalLine, at: Timestamp) {
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
                let story = SessionStory::new(number, instruction.clone(), at);
                self.sessions.push(story);
            }
        }
    }

    fn ended(&mut self, number: u32, result: &SessionResult, at: Timestamp) {
        if let Some(session) = self.session(number) {
            session.ended_at = Some(at);
            session.result = Some(result.clone());
        }
    }

    fn session(&mut self, number: u32) -> Option<&mut SessionStory> {
        // Most lines are about the last one.
        let mut latest_first = self.sessions.iter_mut().rev();
        latest_first.find(|session| session.number == number)
    }
}

/// Makes a [`RunStory`] of the lines of a run, one after the other.
///
/// ```
/// use autonoe_core::{RunId, RunStoryBuilder};
///
/// let story = RunStoryBuilder::new(RunId::new("shop")).build();
///
/// assert_eq!(story.started_at, None);
/// ```
#[derive(Debug)]
pub struct RunStoryBuilder {
    story: RunStory,
    ended: Option<WhyStopped>,
    /// The state of a run that has started.
    machine: Option<RunMachine>,
    /// The session of a flow that is under way.
    session_under_way: Option<u32>,
    has_blocked_calls: bool,
}

impl RunStoryBuilder {
    /// Begins the story of `run`, of which nothing is known yet.
    pub fn new(run: RunId) -> Self {
        Self {
            story: RunStory {
                run,
                mode: None,
                flow: None,
                started_at: None,
                last_heard_of: None,
                resumed: 0,
                sessions: Vec::new(),
                why: WhyStopped::BrokeOff(RunAction::Continue),
            },
            ended: None,
            machine: None,
            session_under_way: None,
            has_blocked_calls: true,
        }
    }

    /// Leaves out the tool calls that were denied, which can be most of a long journal.
    #[must_use]
    pub fn without_blocked_calls(mut self) -> Self {
        self.has_blocked_calls = false;
        self
    }

    /// Adds the next line of the run.
    pub fn add(&mut self, entry: &JournalEntry) {
        let (story, at) = (&mut self.story, entry.at);
        story.started_at.get_or_insert(at);
        story.last_heard_of = Some(at);
        match &entry.line {
            JournalLine::RunStarted { limits, .. } => {
                story.mode.get_or_insert(limits.mode);
                self.machine
                    .get_or_insert_with(|| RunMachine::new(limits.clone()));
            }
            JournalLine::FlowStarted { flow, .. } => {
                story.flow.get_or_insert_with(|| flow.clone());
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
                    .get_or_insert_with(|| WhyStopped::Ended(report.clone()));
            }
            JournalLine::FlowEnded { report, .. } => {
                self.ended
                    .get_or_insert_with(|| WhyStopped::FlowEnded(report.clone()));
            }
            JournalLine::Denied { .. } if !self.has_blocked_calls => return,
            _ => {}
        }
        self.story.tell(&entry.line, at);
    }

    /// Returns the story so far.
    pub fn build(mut self) -> RunStory {
        self.story.why = match (self.ended, &self.story.flow) {
            (Some(ended), _) => ended,
            (None, Some(_)) => WhyStopped::FlowBrokeOff {
                session: self.session_under_way,
            },
            (None, None) => {
                let action = self.machine.map(|machine| machine.action());
                WhyStopped::BrokeOff(action.unwrap_or(RunAction::Continue))
            }
        };
        self.story
    }
}
