//! Carries out what the strategy orders.

use std::panic::AssertUnwindSafe;

use autonoe_core::{EngineError, RunInstruction};
use jiff::Timestamp;

use super::{FleetCourse, FleetStep, Phase, after};
use crate::coordinate::{CutShort, FleetEventKind};
use crate::{HarnessId, HarnessResult, MemberState, Order};

impl FleetCourse {
    /// Notes that the run of a member was taken, and returns what that run is to be told now: what the
    /// fleet was told since the member was to start.
    #[must_use = "the run does not know of it"]
    pub fn began(&mut self, now: Timestamp, member: &HarnessId) -> Vec<RunInstruction> {
        let timeout = self.spec(member).and_then(|spec| spec.timeout);
        // One that was told to stop meanwhile has its time for that.
        let is_running = self.state(member) == Some(&MemberState::Running);
        if let Some(timeout) = timeout.filter(|_| is_running) {
            self.deadlines.set(member, after(now, timeout));
        }
        let run = self.run_of(member);
        let untold = self.starting.remove(member).unwrap_or_default();
        let member = member.clone();
        self.tell(now, FleetEventKind::Started { member, run });
        untold
    }

    /// Notes that the run of a member was not taken. If nobody knows whether it was, what the member
    /// may spend does not return.
    pub fn not_started(&mut self, now: Timestamp, member: &HarnessId, error: &EngineError) {
        let (run, allowance) = self.account(member);
        let why = format!("it could not be started: {error}");
        let result = match error.is_no_answer() {
            true => {
                self.purse.write_off(&run, allowance);
                HarnessResult::lost(member.clone(), why)
            }
            false => {
                self.purse.give_back(&run);
                HarnessResult::failure(member.clone(), why)
            }
        };
        self.end(now, result);
        // What was ordered was ordered without knowing that.
        self.orders.clear();
        self.phase = Phase::Asking;
    }

    pub(super) fn ask_the_strategy(&mut self) {
        self.orders = self.ordered().into();
        self.unpaid_now = None;
        self.phase = Phase::Ordering;
    }

    /// Returns the step of the next order that has one.
    pub(super) fn next_order(&mut self, now: Timestamp) -> Option<FleetStep> {
        while let Some(order) = self.orders.pop_front() {
            let step = match order {
                Order::Finish(decision) if !self.fleet.is_at_work() => {
                    return Some(self.finish(now, decision));
                }
                // It is asked again when they have ended.
                Order::Finish(_) => None,
                Order::Stop { member, why } => self.stop(now, member, why),
                // It is ordered again when there is room.
                Order::Start { .. } if self.is_full() => None,
                Order::Start { member, input } => self.start(now, member, input),
            };
            if step.is_some() || self.phase != Phase::Ordering {
                return step;
            }
        }
        match self.fleet.is_at_work() || self.is_paused() {
            true => self.phase = Phase::Waiting,
            false => {
                let unpaid = self.unpaid_now.take();
                self.cut(now, unpaid.unwrap_or(CutShort::NothingOrdered));
            }
        }
        None
    }

    fn start(
        &mut self,
        now: Timestamp,
        member: HarnessId,
        given: Option<String>,
    ) -> Option<FleetStep> {
        let found = self.fleet.member(&member)?;
        if found.state != MemberState::Waiting {
            return None;
        }
        let (run, allowance) = self.account(&member);
        if let Err(why) = self.purse.reserve(&run, allowance) {
            self.cannot_pay(now, member, why);
            return None;
        }
        let spec = self.spec(&member)?;
        let place = spec.place.clone();
        let order = spec.run(run.clone(), given);
        self.fleet.began(&member);
        match order {
            Ok(run) => {
                self.starting.insert(member.clone(), Vec::new());
                Some(FleetStep::Start { member, run, place })
            }
            Err(reason) => {
                self.not_started(now, &member, &EngineError::Refused { run, reason });
                None
            }
        }
    }

    fn cannot_pay(&mut self, now: Timestamp, member: HarnessId, why: String) {
        if !self.unpaid.contains(&member) {
            self.unpaid.push(member.clone());
            let (member, why) = (member.clone(), why.clone());
            self.tell(now, FleetEventKind::WaitsForMoney { member, why });
        }
        self.unpaid_now
            .get_or_insert(CutShort::CannotBePaid { member, why });
    }

    /// Asks the strategy. One that panics orders nothing: the fleet goes on to its end.
    pub(super) fn ordered(&self) -> Vec<Order> {
        let decide = || self.what.strategy.decide(&self.fleet);
        std::panic::catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| {
            tracing::error!(fleet = %self.name, "a strategy panicked");
            Vec::new()
        })
    }

    /// Tells whether no more members may work.
    fn is_full(&self) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        let members = self.fleet.members().iter();
        let at_work = members.filter(|member| at_work.contains(&member.state));
        self.is_paused() || at_work.count() >= self.what.max_concurrent.get()
    }
}
