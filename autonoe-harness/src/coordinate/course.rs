//! The course of a fleet, from its start to its report.

mod asking;
mod finding;
mod ordering;

use std::collections::HashMap;
use std::time::Duration;

use autonoe_core::{RunControl, RunId, RunOutcome, format_duration};
use jiff::Timestamp;

use super::coordinator::Coordinator;
use super::event::tell;
use super::outcome::result_of;
use super::purse::Purse;
use super::watch::{End, Watch};
use super::{CutShort, FleetEvent, FleetEventKind, FleetReport, MemberSpec};
use crate::{Decision, Fleet, HarnessId, HarnessResult, MemberState, Order};

/// A fleet under way.
pub(super) struct Course<'c> {
    plan: &'c Coordinator,
    specs: HashMap<&'c HarnessId, &'c MemberSpec>,
    fleet: Fleet,
    purse: Purse,
    watch: Watch,
    deadline: Timestamp,
    cut_short: Option<CutShort>,
    /// Since when nobody is started.
    paused_since: Option<Timestamp>,
    /// Members whose time was up, and how that is said.
    timed_out: HashMap<HarnessId, String>,
    /// Members of whom it was told that they wait for money.
    unpaid: Vec<HarnessId>,
    left_behind: Vec<HarnessId>,
}

impl<'c> Course<'c> {
    pub(super) fn new(plan: &'c Coordinator) -> Self {
        let mut specs = HashMap::new();
        for spec in &plan.members {
            specs.entry(&spec.id).or_insert(spec);
        }
        Self {
            plan,
            specs,
            fleet: Fleet::new(plan.members.iter().map(|spec| spec.id.clone())),
            purse: Purse::new(plan.accounts.clone(), plan.account.clone()),
            watch: Watch::new(plan.engine.clone(), plan.clock.clone()),
            deadline: after(plan.clock.now(), plan.time),
            cut_short: None,
            paused_since: None,
            timed_out: HashMap::new(),
            unpaid: Vec::new(),
            left_behind: Vec::new(),
        }
    }

    /// Goes on until nothing is left to do.
    pub(super) async fn run(mut self, control: &RunControl) -> FleetReport {
        let decision = loop {
            while let Some(request) = control.waiting_request() {
                self.take_request(request).await;
            }
            if let Some(decision) = self.decide().await {
                break decision;
            }
            let next_time = self.next_time();
            tokio::select! {
                biased;
                () = control.cancelled(), if self.cut_short.is_none() => {
                    self.cut(CutShort::Cancelled).await;
                }
                ends = self.watch.next_ends() => self.take_ends(ends),
                request = control.next_request() => self.take_request(request).await,
                () = sleep_to(self.plan, next_time) => self.take_time().await,
            }
        };
        self.report(decision)
    }

    fn report(self, decision: Decision) -> FleetReport {
        self.tell(FleetEventKind::Finished {
            success: decision.success,
            winner: decision.winner.clone(),
        });
        // What was decided in time is decided, although the members that lost took longer to end.
        let cut_short = self.cut_short.filter(|_| !decision.success);
        let strategy = self.plan.strategy.typetag_name();
        FleetReport {
            result: self.fleet.aggregate(strategy, decision),
            cut_short,
            accounts: self.purse.into_accounts(),
            left_behind: self.left_behind,
        }
    }

    /// Ends the fleet before its time.
    async fn cut(&mut self, reason: CutShort) {
        let why = reason.to_string();
        self.tell(FleetEventKind::CutShort {
            reason: reason.clone(),
        });
        self.cut_short = Some(reason);
        let running: Vec<_> = self.fleet.running().cloned().collect();
        for member in running {
            self.stop(&member, &why).await;
        }
    }

    /// Returns what the strategy says once nobody works and nobody will.
    fn last_word(&self) -> Decision {
        let orders = self.orders();
        let finish = orders.into_iter().find_map(|order| match order {
            Order::Finish(decision) => Some(decision),
            Order::Start { .. } | Order::Stop { .. } => None,
        });
        finish.unwrap_or_else(Decision::failed)
    }

    fn take_ends(&mut self, mut ends: Vec<End>) {
        let members = self.fleet.members();
        let place = |end: &End| members.iter().position(|member| member.id == end.member);
        ends.sort_by_cached_key(place);
        for End { member, outcome } in ends {
            match outcome {
                Ok(outcome) => self.take_outcome(&member, &outcome),
                Err(error) => {
                    let (run, allowance) = self.account(&member);
                    self.purse.write_off(&run, allowance);
                    let error = format!("what became of it is not known: {error}");
                    self.end(HarnessResult::failure(member, error));
                }
            }
        }
    }

    fn take_outcome(&mut self, member: &HarnessId, outcome: &RunOutcome) {
        if self.left_behind.contains(member) {
            return;
        }
        let (run, allowance) = self.account(member);
        self.purse.settle(&run, allowance, outcome);
        let mut result = result_of(member, outcome);
        if let Some(why) = self.timed_out.get(member) {
            result.success = false;
            result.error = Some(why.clone());
        }
        self.end(result);
    }

    fn end(&mut self, result: HarnessResult) {
        self.watch.forget(&result.id);
        self.tell(FleetEventKind::Ended {
            result: result.clone(),
        });
        self.fleet.ended(result);
    }

    /// Does what is due by now.
    async fn take_time(&mut self) {
        let now = self.plan.clock.now();
        for member in self.watch.overdue(now) {
            let state = self.fleet.member(&member).map(|found| &found.state);
            match state {
                // It does not work, and has its time again when it does.
                Some(MemberState::Running) if self.paused_since.is_some() => {}
                Some(MemberState::Running) => {
                    let timeout = self.spec(&member).and_then(|spec| spec.timeout);
                    let why = timed_out(timeout.unwrap_or_default());
                    self.timed_out.insert(member.clone(), why.clone());
                    self.stop(&member, &why).await;
                }
                Some(MemberState::Stopping) => self.leave_behind(member),
                _ => self.watch.forget(&member),
            }
        }
        let is_paused = self.paused_since.is_some();
        if self.cut_short.is_none() && !is_paused && now >= self.deadline {
            self.cut(CutShort::TimeIsUp).await;
        }
    }

    fn leave_behind(&mut self, member: HarnessId) {
        tracing::error!(fleet = %self.plan.fleet, %member, "a member does not end");
        let (run, allowance) = self.account(&member);
        self.purse.write_off(&run, allowance);
        self.left_behind.push(member.clone());
        let patience = format_duration(self.plan.patience);
        let error = format!("it was told to stop and had not ended after {patience}");
        self.end(HarnessResult::failure(member, error));
    }

    fn next_time(&self) -> Option<Timestamp> {
        let is_paused = self.paused_since.is_some();
        let counts = |member: &HarnessId| {
            let state = self.fleet.member(member).map(|found| &found.state);
            !(is_paused && state == Some(&MemberState::Running))
        };
        let has_deadline = self.cut_short.is_none() && !is_paused;
        let deadline = has_deadline.then_some(self.deadline);
        self.watch
            .next_time(counts)
            .into_iter()
            .chain(deadline)
            .min()
    }

    fn spec(&self, member: &HarnessId) -> Option<&'c MemberSpec> {
        self.specs.get(member).copied()
    }

    /// Returns what a member's account is called and has.
    fn account(&self, member: &HarnessId) -> (RunId, crate::Allowance) {
        let allowance = self.spec(member).map(|spec| spec.allowance);
        (self.plan.run_of(member), allowance.unwrap_or_default())
    }

    fn tell(&self, kind: FleetEventKind) {
        let event = FleetEvent {
            fleet: self.plan.fleet.clone(),
            at: self.plan.clock.now(),
            kind,
        };
        tell(&self.plan.observers, &event);
    }
}

/// How it is said that a member's time was up. Its run is told the same, so that a coordinator that
/// finds it again says the same.
fn timed_out(timeout: Duration) -> String {
    format!("it timed out after {}", format_duration(timeout))
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}

async fn sleep_to(plan: &Coordinator, until: Option<Timestamp>) {
    let Some(until) = until else {
        return std::future::pending().await;
    };
    let left = until.duration_since(plan.clock.now());
    let left = Duration::try_from(left).unwrap_or_default();
    plan.clock.sleep(left).await;
}
