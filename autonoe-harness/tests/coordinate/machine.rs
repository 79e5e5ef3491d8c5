//! Property tests of the fleet state machine under arbitrary events.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::engine::{EngineError, RunInstruction, RunOutcome};
use autonoe_core::event::Failure;
use autonoe_core::{Budget, CostUsd, RunId};
use autonoe_harness::budget::{Account, Spending};
use autonoe_harness::coordinate::{FleetStep, MemberSpec, StrategyRun};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{
    Allowance, FleetMachine, FleetReport, Parallel, Pipeline, Race, Strategy, Voting,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::coordinate::fixture::id;

/// Drives a machine with random events.
struct FleetSimulation {
    machine: FleetMachine,
    now: Timestamp,
    dice: Vec<u8>,
    /// Submitted runs that have not reported their start.
    starting: Vec<MemberId>,
    at_work: BTreeSet<MemberId>,
    started: Vec<MemberId>,
    stopped: BTreeSet<MemberId>,
    most_at_once: usize,
    is_cancelled: bool,
    /// The reported spending of members.
    spent: CostTotal,
    tokens: TokenUsage,
    /// The last pause or resume instruction of each run.
    held: BTreeMap<RunId, bool>,
}

const MEMBERS: usize = 5;
const ROOM: usize = 3;

fn cents(cents: u64) -> Allowance {
    Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)))
}

impl FleetSimulation {
    fn new(strategy: Arc<dyn Strategy>, dice: Vec<u8>) -> Self {
        let members = (0..MEMBERS).map(|number| {
            MemberSpec::new(id(&format!("m{number}")), "act", json!(null))
                .allowance(cents(30))
                .timeout(Duration::from_secs(60))
        });
        let mut strategy_run = StrategyRun::new(strategy).members(members);
        strategy_run.max_concurrent = NonZeroUsize::new(ROOM).expect("some");
        strategy_run.time = Duration::from_secs(300);
        strategy_run.stop_timeout = Duration::from_secs(20);
        strategy_run.budget = cents(100);
        let now = Timestamp::UNIX_EPOCH;
        Self {
            machine: FleetMachine::new("f", strategy_run, now).expect("it begins"),
            now,
            dice,
            starting: Vec::new(),
            at_work: BTreeSet::new(),
            started: Vec::new(),
            stopped: BTreeSet::new(),
            most_at_once: 0,
            is_cancelled: false,
            spent: CostTotal::default(),
            tokens: TokenUsage::default(),
            held: BTreeMap::new(),
        }
    }

    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.pop().unwrap_or(0) % sides
    }

    fn outcome(&mut self) -> Result<RunOutcome, EngineError> {
        let cents = u64::from(self.roll(50));
        let spent = BudgetUsage {
            cost: CostTotal::known(CostUsd::from_cents(cents)),
            tokens: TokenUsage {
                output: 3 * cents,
                ..TokenUsage::default()
            },
            ..BudgetUsage::default()
        };
        match self.roll(4) {
            0 | 1 => Ok(RunOutcome::succeeded(json!("done")).with_spent(spent)),
            2 => Ok(RunOutcome::failed(Failure::permanent("broke", "it broke")).with_spent(spent)),
            _ => Err(EngineError::Unknown(RunId::new("gone"))),
        }
    }

    fn count(&mut self, member: &MemberId, outcome: &Result<RunOutcome, EngineError>) {
        let found = self.machine.fleet().member(member).expect("it is there");
        // Outcomes of members that were left behind do not count.
        if found.result().is_none() {
            let spent = outcome.as_ref().map(|outcome| outcome.spent);
            let cost = spent.as_ref().map(|spent| spent.cost);
            self.spent
                .merge(cost.unwrap_or_else(|_| CostTotal::unknown()));
            self.tokens += spent.map(|spent| spent.tokens).unwrap_or_default();
        }
    }

    /// Starts the run of a member, and sends it its pending instructions.
    fn start_member(&mut self, member: &MemberId) {
        let run = self.machine.run_id(member);
        for instruction in self.machine.on_started(self.now, member) {
            self.held
                .insert(run.clone(), instruction == RunInstruction::Pause);
        }
    }

    /// Sends an instruction to the fleet, and to the runs that must receive it.
    fn instruct(&mut self, instruction: &RunInstruction) {
        for run in self.machine.on_instruction(self.now, instruction) {
            let mut starting = self.starting.iter();
            let is_starting = starting.any(|member| self.machine.run_id(member) == run);
            assert!(
                !is_starting,
                "{run} receives an instruction before it exists"
            );
            self.held.insert(run, *instruction == RunInstruction::Pause);
        }
    }

    /// Checks that running members are paused exactly when the fleet is.
    fn check_invariants(&self) {
        for member in self.machine.fleet().running() {
            let is_held = self.held.get(&self.machine.run_id(member));
            let is_held = is_held.copied().unwrap_or_default();
            let is_there = !self.starting.contains(member);
            let ought = is_there && self.machine.is_paused();
            assert_eq!(is_held, ought, "{member}");
        }
    }

    /// Triggers a random event, or advances the time to `until`.
    fn happen(&mut self, until: Option<Timestamp>) {
        let now = self.now;
        match self.roll(8) {
            0 | 1 if !self.starting.is_empty() => {
                let place = usize::from(self.roll(255)) % self.starting.len();
                let member = self.starting.remove(place);
                match self.roll(6) {
                    0 => {
                        let run = self.machine.run_id(&member);
                        let reason = "no room".to_owned();
                        let error = EngineError::Refused { run, reason };
                        self.at_work.remove(&member);
                        self.machine.on_not_started(now, &member, &error);
                    }
                    _ => self.start_member(&member),
                }
            }
            2 | 3 if !self.at_work.is_empty() => {
                let place = usize::from(self.roll(255)) % self.at_work.len();
                let member = self.at_work.iter().nth(place).expect("it is there").clone();
                if let Some(place) = self.starting.iter().position(|it| *it == member) {
                    self.starting.remove(place);
                    self.start_member(&member);
                }
                self.at_work.remove(&member);
                let outcome = self.outcome();
                self.count(&member, &outcome);
                self.machine.on_ended(now, [(member.clone(), outcome)]);
                // A duplicate report counts once.
                let outcome = self.outcome();
                self.machine.on_ended(now, [(member, outcome)]);
            }
            4 => self.instruct(&RunInstruction::Pause),
            5 => self.instruct(&RunInstruction::Resume),
            6 if self.roll(8) == 0 => {
                self.is_cancelled = true;
                self.machine.cancel(now);
            }
            _ => match until {
                Some(until) => self.now = self.now.max(until),
                None => self.instruct(&RunInstruction::Resume),
            },
        }
    }

    fn run(mut self) -> (FleetReport, Self) {
        for _ in 0..2000 {
            match self.machine.next(self.now) {
                FleetStep::Start { member, .. } => {
                    assert!(!self.is_cancelled, "{member} starts after the end");
                    assert!(!self.machine.is_paused(), "{member} starts in a pause");
                    assert!(self.at_work.insert(member.clone()), "{member} is at work");
                    self.most_at_once = self.most_at_once.max(self.at_work.len());
                    self.started.push(member.clone());
                    self.starting.push(member);
                }
                FleetStep::Stop { member, .. } => {
                    assert!(self.at_work.contains(&member), "{member} is not at work");
                    assert!(self.stopped.insert(member.clone()), "{member} stops twice");
                    self.machine.on_stopped(self.now, &member);
                }
                FleetStep::Wait { until } => {
                    self.check_invariants();
                    self.happen(until);
                }
                FleetStep::Finish(report) => return (*report, self),
            }
        }
        panic!("it does not end: {:?}", self.machine);
    }
}

fn strategies() -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(Parallel {}),
        Arc::new(Pipeline {}),
        Arc::new(Race {}),
        Arc::new(Voting {
            wait_for_all: true,
            ..Voting::default()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_fleet_ends_and_keeps_its_invariants_under_any_events(
        which in 0..4_usize,
        dice in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let strategy = strategies().swap_remove(which);
        let (report, simulation) = FleetSimulation::new(strategy, dice).run();

        let once: BTreeSet<_> = simulation.started.iter().collect();
        prop_assert_eq!(once.len(), simulation.started.len(), "no member starts twice");
        // Members that were left behind may still be running, but no longer count towards the
        // limit.
        let behind = report.unstopped.len();
        prop_assert!(simulation.most_at_once <= ROOM + behind);
        prop_assert_eq!(report.results.len(), simulation.started.len());
        prop_assert_eq!(
            report.not_started.len() + report.results.len(),
            MEMBERS
        );
        prop_assert!(simulation.at_work.iter().all(|member| report.unstopped.contains(member)));
        prop_assert!(!report.success || report.cut_short.is_none());
        // The cost of the fleet is unknown exactly when that of a member is.
        let reported = report.outcome().spent;
        prop_assert_eq!(reported.cost.known_usd, simulation.spent.known_usd);
        prop_assert_eq!(reported.cost.exact().is_none(), simulation.spent.exact().is_none() || behind > 0);
        prop_assert_eq!(reported.tokens, simulation.tokens);
        if let (Some(spent), 0) = (simulation.spent.exact(), behind) {
            let mut account = Account::new(cents(100));
            account.charge(&Spending::from_session(Some(spent), Default::default(), Duration::ZERO));
            prop_assert_eq!(report.account.free(), account.free());
        }
        if let Some(winner) = report.winning_result() {
            prop_assert!(winner.success);
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_steps(
        which in 0..4_usize,
        dice in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let run = || FleetSimulation::new(strategies().swap_remove(which), dice.clone()).run();
        let ((one, first), (other, second)) = (run(), run());

        prop_assert_eq!(one, other);
        prop_assert_eq!(first.started, second.started);
    }
}

#[test]
fn a_member_that_starts_after_its_stop_keeps_the_stop_deadline() {
    let now = Timestamp::UNIX_EPOCH;
    let member = MemberSpec::new(id("a"), "act", json!(null)).timeout(Duration::from_secs(3600));
    let mut strategy_run = StrategyRun::new(Race {}).members([member]);
    strategy_run.stop_timeout = Duration::from_secs(20);
    let mut machine = FleetMachine::new("f", strategy_run, now).expect("it begins");
    let FleetStep::Start { member, .. } = machine.next(now) else {
        panic!("no member starts");
    };
    machine.cancel(now);
    assert!(matches!(machine.next(now), FleetStep::Stop { .. }));
    machine.on_stopped(now, &member);

    assert_eq!(machine.on_started(now, &member), []);

    let until = Timestamp::from_second(20).ok();
    assert_eq!(machine.next(now), FleetStep::Wait { until });
}

#[test]
fn an_instruction_to_a_fleet_reaches_each_run_once() {
    use RunInstruction::{Pause, Resume};
    let now = Timestamp::UNIX_EPOCH;
    let message = || RunInstruction::Message("hello".to_owned());
    // Instructions during the start of the member, and those that the run receives once it exists.
    for (sent, received) in [
        (vec![], vec![]),
        (vec![Pause], vec![Pause]),
        (vec![Pause, Pause], vec![Pause]),
        (vec![Resume], vec![]),
        (
            vec![Pause, message(), Resume],
            vec![Pause, message(), Resume],
        ),
    ] {
        let member = MemberSpec::new(id("a"), "act", json!(null));
        let strategy_run = StrategyRun::new(Race {}).members([member]);
        let mut machine = FleetMachine::new("f", strategy_run, now).expect("it begins");
        let FleetStep::Start { member, .. } = machine.next(now) else {
            panic!("no member starts");
        };

        for sent in &sent {
            assert_eq!(
                machine.on_instruction(now, sent),
                [],
                "its run may not be there"
            );
        }

        assert_eq!(machine.on_started(now, &member), received, "{sent:?}");
        assert_eq!(machine.on_instruction(now, &message()), [RunId::new("f.a")]);
    }
}

#[test]
fn a_fleet_survives_serialisation_as_a_run() {
    let member =
        MemberSpec::new(id("a"), "act", json!({"seconds": 1})).timeout(Duration::from_millis(1500));
    let strategy_run = StrategyRun::new(Race {}).members([member.clone()]);

    let run = strategy_run.to_run(RunId::new("f")).expect("JSON");

    assert_eq!(run.input["members"][0]["timeoutMs"], 1500);
    let read = StrategyRun::from_run(&run).expect("it is a fleet");
    assert_eq!(read.members, [member]);
    assert_eq!(
        (read.time, read.stop_timeout),
        (strategy_run.time, strategy_run.stop_timeout)
    );
    assert_eq!(read.strategy.typetag_name(), "race");
}

#[test]
fn missing_fields_of_a_fleet_have_defaults() {
    let text = json!({"strategy": {"type": "race"}});

    let read: StrategyRun = serde_json::from_value(text).expect("it is a fleet");

    let expected = StrategyRun::new(Race {});
    assert_eq!(format!("{read:?}"), format!("{expected:?}"));
}
