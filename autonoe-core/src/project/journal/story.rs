//! What a journal tells about a run.

use std::fmt;

use jiff::Timestamp;

use super::entry::JournalEntry;
use super::session_story::{BlockedCall, SessionStory};
use crate::domain::{
    CostTotal, FlowReport, InstructionName, Mode, RunId, RunReport, SessionResult, format_time,
};
use crate::run::{JournalLine, RecordedFlow, RecordedRun, RunAction, RunFact, SessionPlan};

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
            } => write!(f, "it broke off in session {number}"),
            Self::BrokeOff(RunAction::Wait { until, .. }) => {
                let until = format_time(*until);
                write!(f, "it broke off while it waited until {until}")
            }
            Self::BrokeOff(RunAction::Hold) => f.write_str("it broke off while it was paused"),
            Self::BrokeOff(_) | Self::FlowBrokeOff { session: None } => {
                f.write_str("it broke off between two sessions")
            }
        }
    }
}

impl RunStory {
    /// Returns why the run is not under way any more. A run that is still under
    /// way looks like one that broke off: ask the run lock.
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

    pub(super) fn of<'a>(run: &RunId, entries: impl Iterator<Item = &'a JournalEntry>) -> Self {
        let entries: Vec<&JournalEntry> = entries.collect();
        let lines = || entries.iter().map(|entry| &entry.line);
        let ended = lines().find_map(|line| match line {
            JournalLine::RunEnded { report } => Some(WhyStopped::Ended(report.clone())),
            JournalLine::FlowEnded { report, .. } => Some(WhyStopped::FlowEnded(report.clone())),
            _ => None,
        });
        let why = ended.unwrap_or_else(|| {
            let with_times = entries.iter().map(|entry| (entry.at, &entry.line));
            if let Some(flow) = RecordedFlow::replay(run.clone(), with_times) {
                let session = flow.session_under_way;
                return WhyStopped::FlowBrokeOff { session };
            }
            let broke_off = RecordedRun::replay(run.clone(), lines());
            WhyStopped::BrokeOff(
                broke_off.map_or(RunAction::Continue, |recorded| recorded.under_way()),
            )
        });
        let mut story = Self {
            run: run.clone(),
            mode: lines().find_map(|line| match line {
                JournalLine::RunStarted { limits, .. } => Some(limits.mode),
                _ => None,
            }),
            flow: lines().find_map(|line| match line {
                JournalLine::FlowStarted { flow, .. } => Some(flow.clone()),
                _ => None,
            }),
            started_at: entries.first().map(|entry| entry.at),
            last_heard_of: entries.last().map(|entry| entry.at),
            resumed: 0,
            sessions: Vec::new(),
            why,
        };
        for entry in entries {
            story.tell(&entry.line, entry.at);
        }
        story
    }

    fn tell(&mut self, line: &JournalLine, at: Timestamp) {
        match line {
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => self.resumed += 1,
            JournalLine::Fact { fact, action } => {
                if let RunFact::SessionEnded { number, result, .. } = fact {
                    self.ended(*number, result, at);
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
        self.sessions
            .iter_mut()
            .find(|session| session.number == number)
    }
}
