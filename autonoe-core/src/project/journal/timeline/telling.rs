//! Tells a time line, line by line of a journal.

use jiff::Timestamp;

use super::ledger_progress::LedgerProgress;
use super::{
    ChangeEntry, CostPoint, DeniedEntry, Idle, IdleSpan, ProgressPoint, RestoredEntry, RunTimeline,
    SessionSpan,
};
use crate::domain::{CostTotal, InstructionName, LedgerView, Mode, SessionResult};
use crate::project::journal::JournalEntry;
use crate::run::{JournalLine, RunAction, RunFact};

/// A time line in the making.
pub(super) struct Telling {
    pub(super) timeline: RunTimeline,
    spent: CostTotal,
    ledger: LedgerProgress,
}

impl Telling {
    pub(super) fn new(first: &JournalEntry) -> Self {
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

    pub(super) fn tell(&mut self, entry: &JournalEntry) {
        // Of two clocks that disagree, the later one is believed: time does not run backwards here.
        let heard = self.timeline.until;
        let at = entry.at.max(heard);
        self.timeline.until = at;
        match &entry.line {
            JournalLine::RunStarted { limits, .. } => self.timeline.mode = limits.mode,
            JournalLine::FlowStarted { flow, .. } => self.timeline.flow = Some(flow.clone()),
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => {
                self.resumed(heard, at);
            }
            // What a flow takes note of is told by the flow.
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
            // It announces a change, which has a line of its own.
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
            } => self.found(at, ledger),
            RunFact::SessionEnded {
                number,
                result,
                ledger,
                ..
            } => {
                self.ended(at, *number, result);
                if let Ok(ledger) = ledger {
                    self.found(at, ledger);
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
                self.found(at, ledger);
                let last = self.timeline.sessions.last();
                let was_lost = last.is_some_and(|session| session.result.is_none());
                // Otherwise it is run again, and told as lost then.
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
            RunAction::Wait { reason, .. } => self.begin_idle(at, Idle::Wait(*reason)),
            RunAction::Hold => self.begin_idle(at, Idle::Paused),
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

    fn ended(&mut self, at: Timestamp, number: u32, result: &SessionResult) {
        if let Some(session) = self.session(number) {
            session.until = Some(at);
            session.result = Some(result.clone());
        }
        self.spent(at, result.cost);
    }

    /// Takes note of a run that was gone since it was last heard of.
    fn resumed(&mut self, heard: Timestamp, at: Timestamp) {
        if let Some(session) = self.timeline.sessions.last_mut()
            && session.until.is_none()
        {
            session.until = Some(heard);
            if self.timeline.flow.is_some() {
                // A run takes note of it by a fact of its own.
                self.spent(at, CostTotal::unknown());
            }
        }
        self.end_idle(heard);
        self.timeline.idle.push(IdleSpan {
            why: Idle::BrokenOff,
            from: heard,
            until: Some(at),
        });
    }

    fn begin_idle(&mut self, at: Timestamp, why: Idle) {
        self.end_idle(at);
        self.timeline.idle.push(IdleSpan {
            why,
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

    fn found(&mut self, at: Timestamp, ledger: &LedgerView) {
        self.ledger.found(*ledger);
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
