//! [`RunTimelineBuilder`], which builds a timeline from the lines of a journal.

use jiff::Timestamp;

use super::{
    ChangeEntry, CostPoint, DeniedEntry, IdleReason, IdleSpan, LedgerProgress, ProgressPoint,
    RestoredEntry, RunTimeline, SessionSpan,
};
use crate::agent::{CostTotal, SessionReport};
use crate::event::InstructionName;
use crate::ledger::LedgerView;
use crate::project::journal::JournalEntry;
use crate::run::{JournalLine, RunAction, RunFact};
use crate::time::Mode;

/// Builds a [`RunTimeline`] line by line, so that a view can follow a run.
///
/// ```
/// use autonoe_core::project::{Journal, RunTimelineBuilder};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("journal.jsonl");
/// let journal = Journal::read(&path)?;
///
/// if let Some(first) = journal.entries().first() {
///     let mut builder = RunTimelineBuilder::new(first);
///     builder.add(first);
///     println!("{} sessions", builder.timeline().sessions.len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunTimelineBuilder {
    pub(super) timeline: RunTimeline,
    spent: CostTotal,
    ledger: LedgerProgress,
}

impl RunTimelineBuilder {
    /// Creates the builder of the run of `first`, without any lines.
    pub fn new(first: &JournalEntry) -> Self {
        Self {
            timeline: RunTimeline {
                run: first.run.clone(),
                mode: Mode::default(),
                flow: None,
                from: first.at,
                until: first.at,
                sessions: Vec::new(),
                idle: Vec::new(),
                cost: Vec::new(),
                progress: Vec::new(),
                changes: Vec::new(),
                denied: Vec::new(),
                ledger_restored: Vec::new(),
                ledger_edited: None,
                report: None,
                flow_report: None,
            },
            spent: CostTotal::default(),
            ledger: LedgerProgress::default(),
        }
    }

    /// Returns the timeline so far.
    pub fn timeline(&self) -> &RunTimeline {
        &self.timeline
    }

    /// Adds the next line of the run.
    pub fn add(&mut self, entry: &JournalEntry) {
        // If clocks disagree, the later time wins: time does not run backwards here.
        let last_line_at = self.timeline.until;
        let at = entry.at.max(last_line_at);
        self.timeline.until = at;
        match &entry.line {
            JournalLine::RunStarted { limits, .. } => self.timeline.mode = limits.mode,
            JournalLine::FlowStarted { flow, .. } => self.timeline.flow = Some(flow.clone()),
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => {
                self.resumed(last_line_at, at);
            }
            // The facts of a flow have no meaning here.
            JournalLine::FlowFact { .. } => {}
            JournalLine::SessionStarted {
                number,
                instruction,
            } => self.started(at, *number, instruction),
            JournalLine::SessionEnded { number, result } => self.ended(at, *number, result),
            JournalLine::FlowEnded { report, .. } => {
                self.end_idle(at);
                self.timeline.flow_report = Some(report.clone());
            }
            JournalLine::Fact { fact, action } => self.fact(at, fact, action),
            JournalLine::StatusChanged { session, change } => {
                self.changed(*session);
                self.timeline.changes.push(ChangeEntry {
                    at,
                    session: *session,
                    change: change.clone(),
                });
                let now = self.ledger.changed(change);
                self.progressed(at, now);
            }
            JournalLine::Deprecated { session, id } => {
                self.changed(*session);
                let now = self.ledger.deprecated(id);
                self.progressed(at, now);
            }
            JournalLine::Verified { session, .. } => {
                self.changed(*session);
                let now = self.ledger.verified();
                self.progressed(at, now);
            }
            // It announces a change, which has its own line.
            JournalLine::LedgerSave { .. } => {}
            JournalLine::LedgerRestored { session, foreign } => {
                self.timeline.ledger_restored.push(RestoredEntry {
                    at,
                    session: *session,
                    foreign: foreign.clone(),
                });
            }
            JournalLine::LedgerEdited { .. } => {
                self.timeline.ledger_edited.get_or_insert(at);
            }
            JournalLine::Denied {
                session,
                tool,
                target,
                by,
                reason,
                remedy,
            } => {
                if let Some(session) = self.session(*session) {
                    session.denied += 1;
                }
                self.timeline.denied.push(DeniedEntry {
                    at,
                    session: *session,
                    tool: tool.clone(),
                    target: target.clone(),
                    by: by.clone(),
                    reason: reason.clone(),
                    remedy: remedy.clone(),
                });
            }
            JournalLine::RunEnded { report } => {
                self.end_idle(at);
                self.timeline.report = Some(report.clone());
            }
        }
    }

    fn fact(&mut self, at: Timestamp, fact: &RunFact, action: &RunAction) {
        match fact {
            RunFact::Started { ledger, .. }
            | RunFact::WaitOver {
                ledger: Ok(ledger), ..
            }
            | RunFact::ResumeRequested {
                ledger: Ok(ledger), ..
            } => self.record_ledger_view(at, ledger),
            RunFact::SessionEnded {
                number,
                result,
                ledger,
                ..
            } => {
                self.ended(at, *number, result);
                if let Ok(ledger) = ledger {
                    self.record_ledger_view(at, ledger);
                }
            }
            RunFact::InstructionSelected {
                number,
                instruction,
            } => {
                if let Some(session) = self.session(*number) {
                    session.instruction = instruction.clone();
                }
            }
            RunFact::SessionLost { .. } => self.spent(at, CostTotal::unknown()),
            RunFact::LimitsChanged { ledger, .. } => {
                self.record_ledger_view(at, ledger);
                let last = self.timeline.sessions.last();
                let was_lost = last.is_some_and(|session| session.result.is_none());
                // Otherwise it is run again, and then recorded as lost.
                if was_lost && matches!(action, RunAction::Finish { .. }) {
                    self.spent(at, CostTotal::unknown());
                }
            }
            _ => {}
        }
        match action {
            RunAction::Continue => {}
            RunAction::StartSession(plan) => {
                self.started(at, plan.number, &plan.instruction);
            }
            RunAction::Wait { reason, .. } => self.begin_idle(at, IdleReason::Wait(*reason)),
            RunAction::Hold => self.begin_idle(at, IdleReason::Paused),
            RunAction::StopSession | RunAction::Finish { .. } => self.end_idle(at),
        }
    }

    fn started(&mut self, at: Timestamp, number: u32, instruction: &InstructionName) {
        self.end_idle(at);
        self.timeline.sessions.push(SessionSpan {
            number,
            instruction: instruction.clone(),
            from: at,
            until: None,
            result: None,
            changes: 0,
            denied: 0,
        });
    }

    fn ended(&mut self, at: Timestamp, number: u32, result: &SessionReport) {
        if let Some(session) = self.session(number) {
            session.until = Some(at);
            session.result = Some(result.clone());
        }
        self.spent(at, result.cost);
    }

    /// Closes the gap between the last line and the resumption of a run.
    fn resumed(&mut self, last_line_at: Timestamp, at: Timestamp) {
        if let Some(session) = self.timeline.sessions.last_mut()
            && session.until.is_none()
        {
            session.until = Some(last_line_at);
            if self.timeline.flow.is_some() {
                // A run records it by its own fact.
                self.spent(at, CostTotal::unknown());
            }
        }
        self.end_idle(last_line_at);
        self.timeline.idle.push(IdleSpan {
            reason: IdleReason::Interrupted,
            from: last_line_at,
            until: Some(at),
        });
    }

    fn begin_idle(&mut self, at: Timestamp, reason: IdleReason) {
        self.end_idle(at);
        self.timeline.idle.push(IdleSpan {
            reason,
            from: at,
            until: None,
        });
    }

    fn end_idle(&mut self, at: Timestamp) {
        if let Some(idle) = self.timeline.idle.last_mut() {
            idle.until.get_or_insert(at);
        }
    }

    fn spent(&mut self, at: Timestamp, cost: CostTotal) {
        self.spent.merge(cost);
        let total = self.spent;
        self.timeline.cost.push(CostPoint { at, total });
    }

    fn record_ledger_view(&mut self, at: Timestamp, ledger: &LedgerView) {
        self.ledger.record_ledger_view(*ledger);
        self.progressed(at, *ledger);
    }

    fn progressed(&mut self, at: Timestamp, ledger: LedgerView) {
        let points = &mut self.timeline.progress;
        if points.last().map(|point| point.ledger) != Some(ledger) {
            points.push(ProgressPoint { at, ledger });
        }
    }

    fn changed(&mut self, session: u32) {
        if let Some(session) = self.session(session) {
            session.changes += 1;
        }
    }

    fn session(&mut self, number: u32) -> Option<&mut SessionSpan> {
        let sessions = self.timeline.sessions.iter_mut();
        sessions.rev().find(|session| session.number == number)
    }
}
