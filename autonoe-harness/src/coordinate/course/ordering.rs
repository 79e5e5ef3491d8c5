//! Carries out what the strategy orders.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use autonoe_core::EngineError;

use super::{Course, after};
use crate::coordinate::watch::ASK_AGAIN;
use crate::coordinate::{CutShort, FleetEventKind};
use crate::{Decision, HarnessId, HarnessResult, MemberState, Order};

/// How often an engine that fails is asked to take a run.
const TRIES: usize = 3;

/// How long an engine may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// What comes of an order to start.
enum Start {
    /// It works.
    Begun,
    /// The order is out of date.
    PassedOver,
    /// It cannot be paid now.
    Unpaid(String),
    /// It could not be started, and has ended with that.
    Failed,
}

impl Course<'_> {
    /// Asks the strategy and does what it says; returns its decision once all is over.
    pub(super) async fn decide(&mut self) -> Option<Decision> {
        while self.cut_short.is_none() {
            let orders = self.orders();
            let mut unpaid = None;
            let mut has_failed = false;
            let mut room = self.room();
            for order in orders {
                match order {
                    Order::Finish(decision) if !self.fleet.is_at_work() => return Some(decision),
                    // It is asked again when they have ended.
                    Order::Finish(_) => {}
                    Order::Stop { member, why } => self.stop(&member, &why).await,
                    // It is ordered again when there is room.
                    Order::Start { .. } if room == 0 => {}
                    Order::Start { member, input } => match self.start(&member, input).await {
                        Start::Begun => room -= 1,
                        Start::PassedOver => {}
                        Start::Unpaid(why) => {
                            unpaid.get_or_insert(CutShort::CannotBePaid { member, why });
                        }
                        Start::Failed => {
                            has_failed = true;
                            break;
                        }
                    },
                }
            }
            if has_failed {
                continue;
            }
            if self.fleet.is_at_work() || self.paused_since.is_some() {
                return None;
            }
            self.cut(unpaid.unwrap_or(CutShort::NothingOrdered)).await;
        }
        (!self.fleet.is_at_work()).then(|| self.last_word())
    }

    async fn start(&mut self, member: &HarnessId, given: Option<String>) -> Start {
        let found = self.fleet.member(member);
        let is_waiting = found.is_some_and(|found| found.state == MemberState::Waiting);
        let (Some(spec), true) = (self.spec(member), is_waiting) else {
            return Start::PassedOver;
        };
        let run = self.plan.run_of(member);
        if let Err(why) = self.purse.reserve(&run, spec.allowance) {
            self.tell_unpaid(member, &why);
            return Start::Unpaid(why);
        }
        let submitted = match spec.run(run.clone(), given) {
            Ok(order) => self.submit(order, spec).await,
            Err(why) => Err(EngineError::Refused {
                run: run.clone(),
                reason: why,
            }),
        };
        self.fleet.began(member);
        match submitted {
            Ok(()) => {
                let until = spec
                    .timeout
                    .map(|timeout| after(self.plan.clock.now(), timeout));
                self.watch.add(member.clone(), run.clone(), until);
                let member = member.clone();
                self.tell(FleetEventKind::Started { member, run });
                Start::Begun
            }
            Err(error) => {
                match error {
                    // Nobody knows whether it was taken; if it was, it is not wanted any more.
                    EngineError::Failed { .. } => {
                        let cancelled = self.plan.engine.cancel(&run, "it was given up");
                        let cancelled = self.answered(cancelled).await;
                        tracing::warn!(%run, ?cancelled, "a run may have been started");
                        self.purse.write_off(&run, spec.allowance);
                    }
                    _ => self.purse.give_back(&run),
                }
                let why = format!("it could not be started: {error}");
                self.end(HarnessResult::failure(member.clone(), why));
                Start::Failed
            }
        }
    }

    async fn submit(
        &self,
        order: autonoe_core::RunSpec,
        spec: &crate::MemberSpec,
    ) -> Result<(), EngineError> {
        let mut tries = 1;
        loop {
            let submitted = self.plan.engine.submit(order.clone(), spec.place.clone());
            match self.answered(submitted).await {
                Err(EngineError::Failed { .. }) if tries < TRIES => {
                    tries += 1;
                    self.plan.clock.sleep(ASK_AGAIN).await;
                }
                submitted => return submitted.map(|_| ()),
            }
        }
    }

    /// Tells a running member to stop. That it has ended is told by its run.
    pub(super) async fn stop(&mut self, member: &HarnessId, why: &str) {
        let state = self.fleet.member(member).map(|found| &found.state);
        if state != Some(&MemberState::Running) {
            return;
        }
        self.fleet.stopping(member);
        self.tell(FleetEventKind::Stopping {
            member: member.clone(),
            why: why.to_owned(),
        });
        let run = self.plan.run_of(member);
        let mut tries = 1;
        while let Err(error) = self.answered(self.plan.engine.cancel(&run, why)).await {
            tracing::warn!(%run, %error, "a run could not be told to end");
            if tries == TRIES || !matches!(error, EngineError::Failed { .. }) {
                break;
            }
            tries += 1;
            self.plan.clock.sleep(ASK_AGAIN).await;
        }
        let until = after(self.plan.clock.now(), self.plan.patience);
        self.watch.must_end_by(member, until);
    }

    /// Waits for an answer of the engine, but not for ever: time-outs, deadlines and the cancel of the
    /// fleet wait for it, too.
    pub(super) async fn answered<T>(
        &self,
        call: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        tokio::select! {
            biased;
            answer = call => answer,
            () = self.plan.clock.sleep(ANSWER) => Err(EngineError::Failed {
                reason: "it does not answer".to_owned(),
                source: None,
            }),
        }
    }

    /// Asks the strategy. One that panics orders nothing: the fleet goes on to its end.
    pub(super) fn orders(&self) -> Vec<Order> {
        let decide = || self.plan.strategy.decide(&self.fleet);
        std::panic::catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| {
            tracing::error!(fleet = %self.plan.fleet, "a strategy panicked");
            Vec::new()
        })
    }

    /// Returns how many more members may work.
    fn room(&self) -> usize {
        if self.paused_since.is_some() {
            return 0;
        }
        let at_work = [MemberState::Running, MemberState::Stopping];
        let members = self.fleet.members().iter();
        let at_work = members.filter(|member| at_work.contains(&member.state));
        self.plan
            .max_concurrent
            .get()
            .saturating_sub(at_work.count())
    }

    fn tell_unpaid(&mut self, member: &HarnessId, why: &str) {
        if self.unpaid.contains(member) {
            return;
        }
        self.unpaid.push(member.clone());
        self.tell(FleetEventKind::WaitsForMoney {
            member: member.clone(),
            why: why.to_owned(),
        });
    }
}
