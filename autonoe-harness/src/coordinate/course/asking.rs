//! What a fleet is asked for while it works, and finds when it begins again.

use std::time::Duration;

use autonoe_core::{RunId, RunInstruction, RunPhase, RunView};
use jiff::Timestamp;

use super::{FleetCourse, Phase, after};
use crate::HarnessId;
use crate::coordinate::FleetEventKind;

impl FleetCourse {
    /// Notes what the fleet is told, and returns the runs that are to be told the same now. Those that
    /// have not begun are told when they have: see [`began`](Self::began).
    pub fn told(&mut self, now: Timestamp, instruction: &RunInstruction) -> Vec<RunId> {
        match instruction {
            RunInstruction::Pause if self.is_paused() => return Vec::new(),
            RunInstruction::Resume if !self.is_paused() => return Vec::new(),
            RunInstruction::Pause => {
                self.paused_since = Some(now);
                self.tell(now, FleetEventKind::Paused);
            }
            RunInstruction::Resume => {
                self.resume(now);
                self.tell(now, FleetEventKind::Resumed);
            }
            RunInstruction::Say(_) => {}
        }
        self.phase = Phase::Asking;
        let mut now_told = Vec::new();
        for member in self.fleet.running() {
            match self.starting.get_mut(member) {
                Some(later) => later.push(instruction.clone()),
                None => now_told.push(self.run_of(member)),
            }
        }
        now_told
    }

    /// Notes a run of a member that somebody before had started. All that are there must be told
    /// before the first step, those that have ended first: what they returned may have paid for the
    /// others.
    pub fn found(&mut self, now: Timestamp, member: &HarnessId, view: &RunView) {
        let Some(timeout) = self.spec(member).map(|spec| spec.timeout) else {
            return;
        };
        let (run, allowance) = self.account(member);
        if let Err(why) = self.purse.reserve(&run, allowance) {
            tracing::warn!(%run, why, "a run that is there already cannot be paid");
        }
        self.fleet.began(member);
        let member = member.clone();
        let found = FleetEventKind::FoundAgain {
            member: member.clone(),
            run,
            has_ended: view.outcome.is_some(),
        };
        self.tell(now, found);
        if let Some(outcome) = &view.outcome {
            self.take_outcome(now, &member, outcome);
            return;
        }
        let until = match view.phase {
            RunPhase::Stopping => {
                self.fleet.stopping(&member);
                Some(after(now, self.what.patience))
            }
            // It has worked for a while; who does not say for how long has all of its time again.
            _ => {
                let worked = view.at.as_ref().map(|at| at.spent.time);
                let worked = worked.unwrap_or_default();
                timeout.map(|timeout| after(now, timeout.saturating_sub(worked)))
            }
        };
        if let Some(until) = until {
            self.deadlines.set(&member, until);
        }
    }

    /// Gives the fleet and its members back the time in which they were held.
    fn resume(&mut self, now: Timestamp) {
        let Some(since) = self.paused_since.take() else {
            return;
        };
        let held = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        self.deadline = after(self.deadline, held);
        for member in self.fleet.running() {
            self.deadlines.extend(member, held);
        }
    }
}
