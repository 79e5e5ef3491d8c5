//! How members end, and the fleet.

use autonoe_core::{EngineError, RunOutcome};
use jiff::Timestamp;

use super::{FleetCourse, FleetStep, Phase, after};
use crate::coordinate::outcome::result_of;
use crate::coordinate::{CutShort, FleetEventKind, FleetReport};
use crate::{Decision, HarnessId, HarnessResult, MemberState, Order};

impl FleetCourse {
    /// Notes what the runs of members came to, or that nobody knows it any more.
    ///
    /// Those that are told together ended at the same time, and count in the order of the members.
    pub fn ended(
        &mut self,
        now: Timestamp,
        ends: impl IntoIterator<Item = (HarnessId, Result<RunOutcome, EngineError>)>,
    ) {
        let mut ends: Vec<_> = ends.into_iter().collect();
        ends.sort_by_cached_key(|(member, _)| self.places.get(member).copied());
        for (member, outcome) in ends {
            match outcome {
                Ok(outcome) => self.take_outcome(now, &member, &outcome),
                Err(error) => self.lose(now, member, &error),
            }
        }
    }

    /// Ends the fleet before its time, because somebody wants it.
    pub fn cancel(&mut self, now: Timestamp) {
        if self.cut_short.is_none() {
            self.cut(now, CutShort::Cancelled);
        }
    }

    /// Notes that the run of a member was told to end, or could not be told.
    pub fn stopped(&mut self, now: Timestamp, member: &HarnessId) {
        if self.state(member) == Some(&MemberState::Stopping) {
            self.deadlines.set(member, after(now, self.what.patience));
        }
    }

    /// Tells a running member to stop.
    pub(super) fn stop(
        &mut self,
        now: Timestamp,
        member: HarnessId,
        why: String,
    ) -> Option<FleetStep> {
        if self.state(&member) != Some(&MemberState::Running) {
            return None;
        }
        self.fleet.stopping(&member);
        self.deadlines.set(&member, after(now, self.what.patience));
        let stopping = FleetEventKind::Stopping {
            member: member.clone(),
            why: why.clone(),
        };
        self.tell(now, stopping);
        let run = self.run_of(&member);
        Some(FleetStep::Stop { member, run, why })
    }

    /// Ends the fleet before its time.
    pub(super) fn cut(&mut self, now: Timestamp, reason: CutShort) {
        let why = reason.to_string();
        self.cut_short = Some(reason.clone());
        self.tell(now, FleetEventKind::CutShort { reason });
        let running = self.fleet.running();
        self.stops
            .extend(running.map(|member| (member.clone(), why.clone())));
    }

    /// Returns the step of a fleet that was cut short and has nobody left to stop.
    pub(super) fn end_of_what_was_cut(&mut self, now: Timestamp) -> FleetStep {
        if self.fleet.is_at_work() {
            self.phase = Phase::Waiting;
            return self.wait();
        }
        let finish = self.ordered().into_iter().find_map(|order| match order {
            Order::Finish(decision) => Some(decision),
            Order::Start { .. } | Order::Stop { .. } => None,
        });
        self.finish(now, finish.unwrap_or_else(Decision::failed))
    }

    pub(super) fn finish(&mut self, now: Timestamp, decision: Decision) -> FleetStep {
        let finished = FleetEventKind::Finished {
            success: decision.success,
            winner: decision.winner.clone(),
        };
        self.tell(now, finished);
        // What was decided in time is decided, although the members that lost took longer to end.
        let cut_short = self.cut_short.clone().filter(|_| !decision.success);
        let strategy = self.what.strategy.typetag_name();
        FleetStep::Finish(Box::new(FleetReport {
            result: self.fleet.aggregate(strategy, decision),
            cut_short,
            accounts: self.purse.accounts().clone(),
            left_behind: self.left_behind.clone(),
        }))
    }

    pub(super) fn take_outcome(
        &mut self,
        now: Timestamp,
        member: &HarnessId,
        outcome: &RunOutcome,
    ) {
        if !self.is_at_work(member) {
            return;
        }
        let (run, allowance) = self.account(member);
        self.purse.settle(&run, allowance, outcome);
        let mut result = result_of(member, outcome);
        if let Some(why) = self.timed_out.get(member) {
            result.success = false;
            result.error = Some(why.clone());
        }
        self.end(now, result);
    }

    /// Gives up a member of whose run nobody knows what became of it.
    fn lose(&mut self, now: Timestamp, member: HarnessId, error: &EngineError) {
        if !self.is_at_work(&member) {
            return;
        }
        let (run, allowance) = self.account(&member);
        self.purse.write_off(&run, allowance);
        let error = format!("what became of it is not known: {error}");
        self.end(now, HarnessResult::lost(member, error));
    }

    pub(super) fn end(&mut self, now: Timestamp, result: HarnessResult) {
        self.deadlines.forget(&result.id);
        self.starting.remove(&result.id);
        let ended = FleetEventKind::Ended {
            result: result.clone(),
        };
        self.tell(now, ended);
        self.fleet.ended(result);
        self.phase = Phase::Asking;
    }

    pub(super) fn state(&self, member: &HarnessId) -> Option<&MemberState> {
        self.fleet.member(member).map(|found| &found.state)
    }

    fn is_at_work(&self, member: &HarnessId) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        let state = self.state(member);
        state.is_some_and(|state| at_work.contains(state))
    }
}
