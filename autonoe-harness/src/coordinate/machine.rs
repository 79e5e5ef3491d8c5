//! Pure state machine of a fleet.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{
    EngineError, Placement, RunInstruction, RunOutcome, RunPhase, RunProgress, RunSpec, RunView,
};
use autonoe_core::time::format_duration;
use jiff::Timestamp;

use super::{
    CoordinationError, CutShort, FleetEvent, FleetEventKind, FleetReport, MemberSpec, StrategyRun,
};
use crate::budget::{Account, AccountError, Allowance, Spending};
use crate::strategy::spent_by;
use crate::strategy::{Decision, Fleet, MemberId, MemberReport, MemberState, Order};

/// The next step of a fleet. The driver performs it, and reports the outcome to the
/// [`FleetMachine`].
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum FleetStep {
    /// Submit the run of a member. Report success with
    /// [`on_started`](FleetMachine::on_started), and send the returned instructions to the run. Report
    /// failure with [`on_not_started`](FleetMachine::on_not_started).
    Start {
        /// The member.
        member: MemberId,
        /// Its run.
        run: RunSpec,
        /// The placement of the run.
        placement: Placement,
    },
    /// Cancel the run of a member. Report with
    /// [`on_stopped`](FleetMachine::on_stopped), whether or not the cancellation succeeded. The end of the run is reported separately.
    Stop {
        /// The member.
        member: MemberId,
        /// Its run.
        run: RunId,
        /// The reason, for people.
        reason: String,
    },
    /// Wait until a member ends, a request arrives, or `until` has passed.
    Wait {
        /// The time of the next deadline; `None` if there is none.
        until: Option<Timestamp>,
    },
    /// The fleet has finished.
    Finish(Box<FleetReport>),
}

/// State machine of a fleet: returns the next step, and receives the outcome of each step.
///
/// The machine starts nothing, waits for nothing and has no clock. The same inputs give the same
/// steps. A [`Coordinator`](super::Coordinator) drives it on an engine, a workflow drives it on a
/// cluster. A driver requests the [`next`](Self::next) step, performs it, reports the outcome, and
/// repeats.
///
/// ```
/// use autonoe_core::engine::RunOutcome;
/// use autonoe_harness::coordinate::{FleetStep, MemberSpec, StrategyRun};
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::{FleetMachine, Race};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// let member = |name: &str| MemberSpec::new(MemberId::new(name), "say", json!("done"));
/// let race = StrategyRun::new(Race {}).members([member("claude")]);
/// let now = Timestamp::UNIX_EPOCH;
/// let mut machine = FleetMachine::new("login-page", race, now)?;
///
/// let FleetStep::Start { member, run, .. } = machine.next(now) else { panic!() };
/// assert_eq!(run.id.as_str(), "login-page.claude");
/// assert_eq!(machine.on_started(now, &member), []);
/// assert!(matches!(machine.next(now), FleetStep::Wait { .. }));
/// machine.on_ended(now, [(member, Ok(RunOutcome::succeeded(json!("done"))))]);
///
/// let FleetStep::Finish(report) = machine.next(now) else { panic!() };
/// assert!(report.success);
/// # Ok::<(), autonoe_harness::coordinate::CoordinationError>(())
/// ```
#[derive(Debug)]
pub struct FleetMachine {
    name: String,
    strategy_run: StrategyRun,
    /// Index of each member in the list of the strategy run.
    places: HashMap<MemberId, usize>,
    fleet: Fleet,
    /// Pays the members. Reservations are named after their runs.
    account: Account,
    /// Deadlines of members. A member without a deadline may run as long as the fleet.
    deadlines: BTreeMap<MemberId, Timestamp>,
    /// Deadline of the fleet.
    deadline: Timestamp,
    phase: Phase,
    /// Members whose runs may not exist yet, with the instructions to send once they do.
    starting: HashMap<MemberId, Vec<RunInstruction>>,
    /// Orders of the strategy that are not processed yet.
    orders: VecDeque<Order>,
    /// The first unpayable order since the strategy's last decision.
    unpaid_now: Option<CutShort>,
    /// Members to stop, each with a reason.
    stops: VecDeque<(MemberId, String)>,
    cut_short: Option<CutShort>,
    /// Start of the current pause.
    paused_since: Option<Timestamp>,
    /// Members that timed out, each with an error message.
    timed_out: HashMap<MemberId, String>,
    /// Members that were reported as waiting for money.
    unpaid: Vec<MemberId>,
    unstopped: Vec<MemberId>,
    events: Vec<FleetEvent>,
}

/// Phase of the decision loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The state has changed: the strategy must decide.
    Deciding,
    /// The strategy's orders are being processed.
    Ordering,
    /// Nothing to do until the next event.
    Waiting,
}

impl FleetMachine {
    /// Starts the fleet `name`, which may contain letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// [`CoordinationError::FleetName`].
    pub fn new(
        name: impl Into<String>,
        strategy_run: StrategyRun,
        now: Timestamp,
    ) -> Result<Self, CoordinationError> {
        let name = name.into();
        if !is_fleet_name(&name) {
            return Err(CoordinationError::FleetName(name));
        }
        let mut places = HashMap::new();
        for (place, spec) in strategy_run.members.iter().enumerate() {
            places.entry(spec.id.clone()).or_insert(place);
        }
        let fleet = Fleet::new(strategy_run.members.iter().map(|spec| spec.id.clone()));
        let mut machine = Self {
            name,
            places,
            account: Account::new(strategy_run.budget),
            deadlines: BTreeMap::new(),
            deadline: after(now, strategy_run.time),
            phase: Phase::Deciding,
            starting: HashMap::new(),
            orders: VecDeque::new(),
            unpaid_now: None,
            stops: VecDeque::new(),
            cut_short: None,
            paused_since: None,
            timed_out: HashMap::new(),
            unpaid: Vec::new(),
            unstopped: Vec::new(),
            events: Vec::new(),
            fleet,
            strategy_run,
        };
        let members = machine.fleet.members().iter();
        let members = members.map(|member| member.id.clone()).collect();
        let strategy = machine.strategy_run.strategy.typetag_name().to_owned();
        machine.emit(now, FleetEventKind::FleetStarted { strategy, members });
        Ok(machine)
    }

    /// Returns the next step. Call it no more after [`FleetStep::Finish`].
    pub fn next(&mut self, now: Timestamp) -> FleetStep {
        if self.phase == Phase::Waiting {
            self.handle_deadlines(now);
        }
        loop {
            if let Some((member, reason)) = self.stops.pop_front() {
                match self.stop(now, member, reason) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            let step = match self.phase {
                _ if self.cut_short.is_some() => Some(self.finish_early(now)),
                Phase::Deciding => {
                    self.process_decision();
                    None
                }
                Phase::Ordering => self.next_order(now),
                Phase::Waiting => Some(self.wait()),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Returns the events since the last call, for observers.
    pub fn take_events(&mut self) -> Vec<FleetEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns the state of the members.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Returns whether the fleet ends before its strategy has finished.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short.is_some()
    }

    /// Returns whether the fleet is paused.
    pub fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// Returns the progress of the fleet: the share of members that have ended, and their spending.
    pub fn progress(&self) -> RunProgress {
        let all = self.fleet.members().len().max(1);
        let mut at = RunProgress::new(self.fleet.results().count() as f64 / all as f64);
        at.spent = spent_by(self.fleet.results());
        at
    }

    /// Returns the run ID of a member.
    pub fn run_id(&self, member: &MemberId) -> RunId {
        RunId::new(format!("{}.{member}", self.name))
    }

    fn spec(&self, member: &MemberId) -> Option<&MemberSpec> {
        self.strategy_run.members.get(*self.places.get(member)?)
    }

    fn allowance(&self, member: &MemberId) -> Allowance {
        let allowance = self.spec(member).map(|spec| spec.allowance);
        allowance.unwrap_or_default()
    }

    /// Reserves the allowance of a member, or returns what is missing.
    fn reserve(&mut self, member: &MemberId) -> Result<(), String> {
        let (run, allowance) = (self.run_id(member), self.allowance(member));
        match self.account.reserve(run.as_str(), allowance) {
            // An earlier coordinator has reserved it.
            Ok(()) | Err(AccountError::Duplicate(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Charges the spending of a member, and frees the rest of its allowance.
    fn close_reservation(&mut self, member: &MemberId, spending: &Spending) {
        self.account
            .close_reservation(self.run_id(member).as_str(), spending);
    }

    /// Charges the whole allowance of a member whose spending is unknown.
    fn charge_whole_allowance(&mut self, member: &MemberId) {
        self.close_reservation(member, &self.allowance(member).all_spent());
    }

    fn emit(&mut self, at: Timestamp, kind: FleetEventKind) {
        self.events.push(FleetEvent {
            fleet: self.name.clone(),
            at,
            kind,
        });
    }

    /// Records that the engine accepted the run of a member. Returns the instructions that the
    /// fleet received since the start was ordered, to be sent to the run now.
    #[must_use = "send these instructions to the run"]
    pub fn on_started(&mut self, now: Timestamp, member: &MemberId) -> Vec<RunInstruction> {
        let timeout = self.spec(member).and_then(|spec| spec.timeout);
        // A member that was stopped in the meantime has the deadline of its stop.
        let is_running = self.state(member) == Some(&MemberState::Running);
        if let Some(timeout) = timeout.filter(|_| is_running) {
            self.deadlines.insert(member.clone(), after(now, timeout));
        }
        let run = self.run_id(member);
        let pending = self.starting.remove(member).unwrap_or_default();
        let member = member.clone();
        self.emit(now, FleetEventKind::Started { member, run });
        pending
    }

    /// Records that the engine did not accept the run of a member. If the engine did not answer,
    /// the member may be running, and its allowance is charged in full.
    pub fn on_not_started(&mut self, now: Timestamp, member: &MemberId, error: &EngineError) {
        let reason = format!("cannot start the member: {error}");
        let result = if error.is_unknown_result() {
            self.charge_whole_allowance(member);
            MemberReport::lost(member.clone(), reason)
        } else {
            self.close_reservation(member, &Spending::default());
            MemberReport::failure(member.clone(), reason)
        };
        self.end(now, result);
        // The remaining orders do not take this failure into account.
        self.orders.clear();
        self.phase = Phase::Deciding;
    }

    fn process_decision(&mut self) {
        self.orders = self.decide().into();
        self.unpaid_now = None;
        self.phase = Phase::Ordering;
    }

    /// Returns the step of the next order that needs one.
    fn next_order(&mut self, now: Timestamp) -> Option<FleetStep> {
        while let Some(order) = self.orders.pop_front() {
            let step = match order {
                Order::Finish(decision) if !self.fleet.has_running_members() => {
                    return Some(self.finish(now, decision));
                }
                // The strategy decides again when the members have ended.
                Order::Finish(_) => None,
                Order::Stop { member, reason } => self.stop(now, member, reason),
                // The strategy orders it again when there is room.
                Order::Start { .. } if self.is_full() => None,
                Order::Start { member, input } => self.start(now, member, input),
            };
            if step.is_some() || self.phase != Phase::Ordering {
                return step;
            }
        }
        if self.fleet.has_running_members() || self.is_paused() {
            self.phase = Phase::Waiting;
        } else {
            let unpaid = self.unpaid_now.take();
            self.cut(now, unpaid.unwrap_or(CutShort::StrategyStalled));
        }
        None
    }

    fn start(
        &mut self,
        now: Timestamp,
        member: MemberId,
        input: Option<String>,
    ) -> Option<FleetStep> {
        let found = self.fleet.member(&member)?;
        if found.state != MemberState::Waiting {
            return None;
        }
        if let Err(missing) = self.reserve(&member) {
            self.cannot_pay(now, member, missing);
            return None;
        }
        let run = self.run_id(&member);
        let spec = self.spec(&member)?;
        let placement = spec.placement.clone();
        let order = spec.run(run.clone(), input);
        self.fleet.mark_running(&member);
        match order {
            Ok(run) => {
                self.starting.insert(member.clone(), Vec::new());
                Some(FleetStep::Start {
                    member,
                    run,
                    placement,
                })
            }
            Err(reason) => {
                self.on_not_started(now, &member, &EngineError::Refused { run, reason });
                None
            }
        }
    }

    fn cannot_pay(&mut self, now: Timestamp, member: MemberId, missing: String) {
        if !self.unpaid.contains(&member) {
            self.unpaid.push(member.clone());
            let (member, missing) = (member.clone(), missing.clone());
            self.emit(
                now,
                FleetEventKind::WaitsForBudget {
                    member,
                    reason: missing,
                },
            );
        }
        self.unpaid_now
            .get_or_insert(CutShort::InsufficientBudget { member, missing });
    }

    /// Asks the strategy for its orders. A strategy that panics orders nothing, and the fleet
    /// continues to its end.
    fn decide(&self) -> Vec<Order> {
        let decide = || self.strategy_run.strategy.decide(&self.fleet);
        std::panic::catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| {
            tracing::error!(fleet = %self.name, "a strategy panicked");
            Vec::new()
        })
    }

    /// Returns whether no further member may start.
    fn is_full(&self) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        let members = self.fleet.members().iter();
        let at_work = members.filter(|member| at_work.contains(&member.state));
        self.is_paused() || at_work.count() >= self.strategy_run.max_concurrent.get()
    }

    /// Applies an instruction to the fleet, and returns the runs that must receive it now. Runs
    /// that have not started receive it later: see [`on_started`](Self::on_started).
    pub fn on_instruction(&mut self, now: Timestamp, instruction: &RunInstruction) -> Vec<RunId> {
        match instruction {
            RunInstruction::Pause if self.is_paused() => return Vec::new(),
            RunInstruction::Resume if !self.is_paused() => return Vec::new(),
            RunInstruction::Pause => {
                self.paused_since = Some(now);
                self.emit(now, FleetEventKind::Paused);
            }
            RunInstruction::Resume => {
                self.resume(now);
                self.emit(now, FleetEventKind::Resumed);
            }
            RunInstruction::Message(_) => {}
        }
        self.phase = Phase::Deciding;
        let mut recipients = Vec::new();
        for member in self.fleet.running() {
            match self.starting.get_mut(member) {
                Some(later) => later.push(instruction.clone()),
                None => recipients.push(self.run_id(member)),
            }
        }
        recipients
    }

    /// Records an existing run of a member, started by an earlier coordinator. Report all existing
    /// runs before the first step, ended ones first: the budget that they returned may have paid
    /// for the others.
    pub fn on_found(&mut self, now: Timestamp, member: &MemberId, view: &RunView) {
        let Some(timeout) = self.spec(member).map(|spec| spec.timeout) else {
            return;
        };
        let run = self.run_id(member);
        if let Err(missing) = self.reserve(member) {
            tracing::warn!(%run, missing, "the budget does not cover a run that already exists");
        }
        self.fleet.mark_running(member);
        let member = member.clone();
        let found = FleetEventKind::RunFound {
            member: member.clone(),
            run,
            has_ended: view.outcome.is_some(),
        };
        self.emit(now, found);
        if let Some(outcome) = &view.outcome {
            self.take_outcome(now, &member, outcome);
            return;
        }
        let until = match view.phase {
            RunPhase::Stopping => {
                self.fleet.mark_stopping(&member);
                Some(after(now, self.strategy_run.stop_timeout))
            }
            // The run has used some of its time. A run that does not report its working time gets
            // its full timeout again.
            RunPhase::Waiting | RunPhase::Running | RunPhase::Paused | RunPhase::Ended => {
                let worked = view.progress.as_ref().map(|at| at.spent.time);
                let worked = worked.unwrap_or_default();
                timeout.map(|timeout| after(now, timeout.saturating_sub(worked)))
            }
        };
        if let Some(until) = until {
            self.deadlines.insert(member.clone(), until);
        }
    }

    /// Extends the deadlines of the fleet and its members by the length of the pause.
    fn resume(&mut self, now: Timestamp) {
        let Some(since) = self.paused_since.take() else {
            return;
        };
        let held = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        self.deadline = after(self.deadline, held);
        for member in self.fleet.running() {
            if let Some(until) = self.deadlines.get_mut(member) {
                *until = after(*until, held);
            }
        }
    }

    /// Records the outcomes of members' runs, or that an outcome is lost.
    ///
    /// Outcomes that are reported together ended at the same time, and count in the order of the
    /// members.
    pub fn on_ended(
        &mut self,
        now: Timestamp,
        ends: impl IntoIterator<Item = (MemberId, Result<RunOutcome, EngineError>)>,
    ) {
        let mut ends: Vec<_> = ends.into_iter().collect();
        ends.sort_by_cached_key(|(member, _)| self.places.get(member).copied());
        for (member, outcome) in ends {
            match outcome {
                Ok(outcome) => self.take_outcome(now, &member, &outcome),
                Err(error) => self.mark_lost(now, member, &error),
            }
        }
    }

    /// Cancels the fleet.
    pub fn cancel(&mut self, now: Timestamp) {
        if self.cut_short.is_none() {
            self.cut(now, CutShort::Cancelled);
        }
    }

    /// Records that the cancellation of a member's run was attempted.
    pub fn on_stopped(&mut self, now: Timestamp, member: &MemberId) {
        if self.state(member) == Some(&MemberState::Stopping) {
            self.deadlines
                .insert(member.clone(), after(now, self.strategy_run.stop_timeout));
        }
    }

    /// Stops a running member.
    fn stop(&mut self, now: Timestamp, member: MemberId, reason: String) -> Option<FleetStep> {
        if self.state(&member) != Some(&MemberState::Running) {
            return None;
        }
        self.fleet.mark_stopping(&member);
        self.deadlines
            .insert(member.clone(), after(now, self.strategy_run.stop_timeout));
        let stopping = FleetEventKind::Stopping {
            member: member.clone(),
            reason: reason.clone(),
        };
        self.emit(now, stopping);
        let run = self.run_id(&member);
        Some(FleetStep::Stop {
            member,
            run,
            reason,
        })
    }

    /// Ends the fleet early.
    fn cut(&mut self, now: Timestamp, reason: CutShort) {
        let message = reason.to_string();
        self.cut_short = Some(reason.clone());
        self.emit(now, FleetEventKind::CutShort { reason });
        let running = self.fleet.running();
        self.stops
            .extend(running.map(|member| (member.clone(), message.clone())));
    }

    /// Returns the next step of a fleet that ends early, once there is no member left to stop.
    fn finish_early(&mut self, now: Timestamp) -> FleetStep {
        if self.fleet.has_running_members() {
            self.phase = Phase::Waiting;
            return self.wait();
        }
        let finish = self.decide().into_iter().find_map(|order| match order {
            Order::Finish(decision) => Some(decision),
            Order::Start { .. } | Order::Stop { .. } => None,
        });
        self.finish(now, finish.unwrap_or_else(Decision::failed))
    }

    fn finish(&mut self, now: Timestamp, decision: Decision) -> FleetStep {
        let finished = FleetEventKind::Finished {
            success: decision.success,
            winner: decision.winner.clone(),
        };
        self.emit(now, finished);
        // A decision that was made in time counts, even if the losing members took longer to end.
        let cut_short = self.cut_short.clone().filter(|_| !decision.success);
        let strategy = self.strategy_run.strategy.typetag_name();
        FleetStep::Finish(Box::new(FleetReport {
            cut_short,
            account: self.account.clone(),
            unstopped: self.unstopped.clone(),
            ..FleetReport::new(strategy, &self.fleet, decision)
        }))
    }

    fn take_outcome(&mut self, now: Timestamp, member: &MemberId, outcome: &RunOutcome) {
        if !self.is_at_work(member) {
            return;
        }
        // If the run did not count its sessions, none of the reserved sessions return.
        let sessions = outcome.sessions.or(self.allowance(member).sessions);
        let spending = Spending {
            spent: outcome.spent,
            sessions: sessions.unwrap_or_default(),
        };
        self.close_reservation(member, &spending);
        let mut result = MemberReport::from_outcome(member, outcome);
        if let Some(reason) = self.timed_out.get(member) {
            result.success = false;
            result.error = Some(reason.clone());
        }
        self.end(now, result);
    }

    /// Gives up a member whose run has an unknown outcome.
    fn mark_lost(&mut self, now: Timestamp, member: MemberId, error: &EngineError) {
        if !self.is_at_work(&member) {
            return;
        }
        self.charge_whole_allowance(&member);
        let error = format!("the outcome of the run is unknown: {error}");
        self.end(now, MemberReport::lost(member, error));
    }

    fn end(&mut self, now: Timestamp, result: MemberReport) {
        self.deadlines.remove(&result.id);
        self.starting.remove(&result.id);
        let ended = FleetEventKind::Ended {
            result: result.clone(),
        };
        self.emit(now, ended);
        self.fleet.record_result(result);
        self.phase = Phase::Deciding;
    }

    fn state(&self, member: &MemberId) -> Option<&MemberState> {
        self.fleet.member(member).map(|found| &found.state)
    }

    fn is_at_work(&self, member: &MemberId) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        let state = self.state(member);
        state.is_some_and(|state| at_work.contains(state))
    }

    /// Handles the deadlines that have passed.
    fn handle_deadlines(&mut self, now: Timestamp) {
        let overdue = self.deadlines.iter().filter(|(_, until)| **until <= now);
        let overdue: Vec<_> = overdue.map(|(member, _)| member.clone()).collect();
        for member in overdue {
            match self.state(&member) {
                // A paused member does not work. Its deadline moves when the fleet resumes.
                Some(MemberState::Running) if self.is_paused() => {}
                Some(MemberState::Running) => {
                    let timeout = self.spec(&member).and_then(|spec| spec.timeout);
                    let reason = timed_out(timeout.unwrap_or_default());
                    self.timed_out.insert(member.clone(), reason.clone());
                    self.stops.push_back((member, reason));
                }
                Some(MemberState::Stopping) => self.give_up_on(now, member),
                Some(MemberState::Waiting | MemberState::Ended { .. }) | None => {
                    self.deadlines.remove(&member);
                }
            }
        }
        if self.cut_short.is_none() && !self.is_paused() && now >= self.deadline {
            self.cut(now, CutShort::TimedOut);
        }
    }

    fn wait(&self) -> FleetStep {
        let counts = |member: &MemberId| {
            !(self.is_paused() && self.state(member) == Some(&MemberState::Running))
        };
        let has_deadline = self.cut_short.is_none() && !self.is_paused();
        let deadline = has_deadline.then_some(self.deadline);
        let members = self.deadlines.iter().filter(|(member, _)| counts(member));
        let until = members.map(|(_, until)| *until).chain(deadline);
        FleetStep::Wait { until: until.min() }
    }

    fn give_up_on(&mut self, now: Timestamp, member: MemberId) {
        tracing::error!(fleet = %self.name, %member, "a member does not stop");
        self.charge_whole_allowance(&member);
        self.unstopped.push(member.clone());
        let stop_timeout = format_duration(self.strategy_run.stop_timeout);
        let error = format!("the member did not stop within {stop_timeout}");
        self.end(now, MemberReport::lost(member, error));
    }
}

/// Returns whether `name` can be the name of a fleet. With a dot, runs of two fleets could have the
/// same name.
pub(crate) fn is_fleet_name(name: &str) -> bool {
    let may_be_in = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.chars().all(may_be_in)
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}

/// Returns the message of a timeout. The run is cancelled with the same message, so that a later
/// coordinator that finds the run reports it, too.
fn timed_out(timeout: Duration) -> String {
    format!("it timed out after {}", format_duration(timeout))
}
