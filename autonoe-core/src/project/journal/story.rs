//! What a journal tells about a run.

use std::fmt;

use jiff::Timestamp;

use super::entry::JournalEntry;
use crate::domain::{InstructionName, RunId, RunReport, SessionResult};
use crate::run::{JournalLine, RecordedRun, RunAction, RunFact, SessionPlan};

/// What happened in a run, session by session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStory {
    /// The run.
    pub run: RunId,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// How often it was resumed.
    pub resumed: u32,
    /// Its sessions, in order. One that was run again stands here once.
    pub sessions: Vec<SessionStory>,
    why: WhyStopped,
}

/// What happened in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStory {
    /// Its number.
    pub number: u32,
    /// What the agent was told to do.
    pub instruction: InstructionName,
    /// How often it was started: more than once if it was lost with its process.
    pub starts: u32,
    /// What is known of it; `None` if it never ended.
    pub result: Option<SessionResult>,
    /// How many deliverables it created or changed.
    pub changes: u32,
    /// How many of its tool calls were denied.
    pub denied: u32,
}

/// Why a run is not under way any more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyStopped {
    /// It came to its end.
    Ended(RunReport),
    /// Its process was gone before it came to its end; this was under way.
    BrokeOff(RunAction),
}

impl fmt::Display for WhyStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(report) => write!(f, "it ended: {}", report.exit),
            Self::BrokeOff(RunAction::StartSession(plan)) => {
                write!(f, "it broke off in session {}", plan.number)
            }
            Self::BrokeOff(RunAction::Wait { until, .. }) => {
                write!(f, "it broke off while it waited until {until}")
            }
            Self::BrokeOff(RunAction::Hold) => f.write_str("it broke off while it was paused"),
            Self::BrokeOff(_) => f.write_str("it broke off between two sessions"),
        }
    }
}

impl RunStory {
    /// Returns why the run is not under way any more. A run that is still under
    /// way looks like one that broke off: ask the run lock.
    pub fn why_did_it_stop(&self) -> &WhyStopped {
        &self.why
    }

    pub(super) fn of<'a>(run: &RunId, entries: impl Iterator<Item = &'a JournalEntry>) -> Self {
        let entries: Vec<&JournalEntry> = entries.collect();
        let lines = || entries.iter().map(|entry| &entry.line);
        let ended = lines().find_map(|line| match line {
            JournalLine::RunEnded { report } => Some(WhyStopped::Ended(report.clone())),
            _ => None,
        });
        let why = ended.unwrap_or_else(|| {
            let broke_off = RecordedRun::replay(run.clone(), lines());
            WhyStopped::BrokeOff(
                broke_off.map_or(RunAction::Continue, |recorded| recorded.under_way()),
            )
        });
        let mut story = Self {
            run: run.clone(),
            started_at: entries.first().map(|entry| entry.at),
            resumed: 0,
            sessions: Vec::new(),
            why,
        };
        lines().for_each(|line| story.tell(line));
        story
    }

    fn tell(&mut self, line: &JournalLine) {
        match line {
            JournalLine::RunResumed { .. } => self.resumed += 1,
            JournalLine::Fact { fact, action } => {
                if let RunFact::SessionEnded { number, result, .. } = fact
                    && let Some(session) = self.session(*number)
                {
                    session.result = Some(result.clone());
                }
                if let RunAction::StartSession(plan) = action {
                    self.started(plan);
                }
            }
            JournalLine::StatusChanged { session, .. }
            | JournalLine::Deprecated { session, .. }
            | JournalLine::Verified { session, .. } => {
                if let Some(session) = self.session(*session) {
                    session.changes += 1;
                }
            }
            JournalLine::Denied { session, .. } => {
                if let Some(session) = self.session(*session) {
                    session.denied += 1;
                }
            }
            JournalLine::RunStarted { .. } | JournalLine::RunEnded { .. } => {}
        }
    }

    fn started(&mut self, plan: &SessionPlan) {
        match self.session(plan.number) {
            Some(session) => session.starts += 1,
            None => self.sessions.push(SessionStory {
                number: plan.number,
                instruction: plan.instruction.clone(),
                starts: 1,
                result: None,
                changes: 0,
                denied: 0,
            }),
        }
    }

    fn session(&mut self, number: u32) -> Option<&mut SessionStory> {
        self.sessions
            .iter_mut()
            .find(|session| session.number == number)
    }
}
