//! The course of a fleet as a value, whatever is told in whatever order.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    Budget, CostTotal, CostUsd, EngineError, Failure, RunId, RunInstruction, RunOutcome, Spent,
    TokenUsage,
};
use autonoe_harness::{
    Accounts, Allowance, FleetCourse, FleetReport, FleetStep, HarnessId, MemberSpec, Parallel,
    Pipeline, Race, Spending, Strategy, StrategyRun, Voting,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::coordinate::scripted::id;

/// Who carries out a course, and does what dice say.
struct World {
    course: FleetCourse,
    now: Timestamp,
    dice: Vec<u8>,
    /// Runs that were submitted and have not said that they began.
    starting: Vec<HarnessId>,
    at_work: BTreeSet<HarnessId>,
    started: Vec<HarnessId>,
    stopped: BTreeSet<HarnessId>,
    most_at_once: usize,
    is_cancelled: bool,
    /// What members said that they spent.
    spent: CostTotal,
    tokens: TokenUsage,
    /// Runs that were told to hold or to go on, and which of them was last.
    held: BTreeMap<RunId, bool>,
}

const MEMBERS: usize = 5;
const ROOM: usize = 3;

fn cents(cents: u64) -> Allowance {
    Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)))
}

impl World {
    fn new(strategy: Arc<dyn Strategy>, dice: Vec<u8>) -> Self {
        let members = (0..MEMBERS).map(|number| {
            MemberSpec::new(id(&format!("m{number}")), "act", json!(null))
                .allowance(cents(30))
                .timeout(Duration::from_secs(60))
        });
        let what = StrategyRun::new(strategy)
            .members(members)
            .max_concurrent(NonZeroUsize::new(ROOM).expect("some"))
            .time(Duration::from_secs(300))
            .patience(Duration::from_secs(20))
            .budget(cents(100));
        let now = Timestamp::UNIX_EPOCH;
        Self {
            course: FleetCourse::new("f", what, now).expect("it begins"),
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
        let spent = Spent {
            cost: CostTotal::known(CostUsd::from_cents(cents)),
            tokens: TokenUsage {
                output: 3 * cents,
                ..TokenUsage::default()
            },
            ..Spent::default()
        };
        match self.roll(4) {
            0 | 1 => Ok(RunOutcome::succeeded(json!("done")).with_spent(spent)),
            2 => Ok(RunOutcome::failed(Failure::permanent("broke", "it broke")).with_spent(spent)),
            _ => Err(EngineError::Unknown(RunId::new("gone"))),
        }
    }

    fn count(&mut self, member: &HarnessId, outcome: &Result<RunOutcome, EngineError>) {
        let found = self.course.fleet().member(member).expect("it is there");
        // What is said by those that were left behind is not heard.
        if found.result().is_none() {
            let said = outcome.as_ref().map(|outcome| outcome.spent);
            let cost = said.as_ref().map(|spent| spent.cost);
            self.spent
                .merge(cost.unwrap_or_else(|_| CostTotal::unknown()));
            self.tokens += said.map(|spent| spent.tokens).unwrap_or_default();
        }
    }

    /// Lets the run of a member begin, and tells it what it is to know.
    fn began(&mut self, member: &HarnessId) {
        let run = self.course.run_of(member);
        for told in self.course.began(self.now, member) {
            self.held.insert(run.clone(), told == RunInstruction::Pause);
        }
    }

    /// Tells the fleet something, and those runs that are to be told.
    fn tell(&mut self, told: &RunInstruction) {
        for run in self.course.told(self.now, told) {
            let mut starting = self.starting.iter();
            let is_starting = starting.any(|member| self.course.run_of(member) == run);
            assert!(!is_starting, "{run} is told before it is there");
            self.held.insert(run, *told == RunInstruction::Pause);
        }
    }

    /// Sees that runs that are there are held if the fleet is, and only then.
    fn look(&self) {
        for member in self.course.fleet().running() {
            let is_held = self.held.get(&self.course.run_of(member));
            let is_held = is_held.copied().unwrap_or_default();
            let is_there = !self.starting.contains(member);
            let ought = is_there && self.course.is_paused();
            assert_eq!(is_held, ought, "{member}");
        }
    }

    /// Lets something happen, or time pass until `until`.
    fn happen(&mut self, until: Option<Timestamp>) {
        let now = self.now;
        match self.roll(8) {
            0 | 1 if !self.starting.is_empty() => {
                let place = usize::from(self.roll(255)) % self.starting.len();
                let member = self.starting.remove(place);
                match self.roll(6) {
                    0 => {
                        let run = self.course.run_of(&member);
                        let reason = "no room".to_owned();
                        let error = EngineError::Refused { run, reason };
                        self.at_work.remove(&member);
                        self.course.not_started(now, &member, &error);
                    }
                    _ => self.began(&member),
                }
            }
            2 | 3 if !self.at_work.is_empty() => {
                let place = usize::from(self.roll(255)) % self.at_work.len();
                let member = self.at_work.iter().nth(place).expect("it is there").clone();
                if let Some(place) = self.starting.iter().position(|it| *it == member) {
                    self.starting.remove(place);
                    self.began(&member);
                }
                self.at_work.remove(&member);
                let outcome = self.outcome();
                self.count(&member, &outcome);
                self.course.ended(now, [(member.clone(), outcome)]);
                // What is told twice counts once.
                let outcome = self.outcome();
                self.course.ended(now, [(member, outcome)]);
            }
            4 => self.tell(&RunInstruction::Pause),
            5 => self.tell(&RunInstruction::Resume),
            6 if self.roll(8) == 0 => {
                self.is_cancelled = true;
                self.course.cancel(now);
            }
            _ => match until {
                Some(until) => self.now = self.now.max(until),
                None => self.tell(&RunInstruction::Resume),
            },
        }
    }

    fn run(mut self) -> (FleetReport, Self) {
        for _ in 0..2000 {
            match self.course.next(self.now) {
                FleetStep::Start { member, .. } => {
                    assert!(!self.is_cancelled, "{member} starts after the end");
                    assert!(!self.course.is_paused(), "{member} starts in a pause");
                    assert!(self.at_work.insert(member.clone()), "{member} is at work");
                    self.most_at_once = self.most_at_once.max(self.at_work.len());
                    self.started.push(member.clone());
                    self.starting.push(member);
                }
                FleetStep::Stop { member, .. } => {
                    assert!(self.at_work.contains(&member), "{member} is not at work");
                    assert!(self.stopped.insert(member.clone()), "{member} stops twice");
                    self.course.stopped(self.now, &member);
                }
                FleetStep::Wait { until } => {
                    self.look();
                    self.happen(until);
                }
                FleetStep::Finish(report) => return (*report, self),
            }
        }
        panic!("it does not end: {:?}", self.course);
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
    fn whatever_happens_a_fleet_ends_and_keeps_to_its_rules(
        which in 0..4_usize,
        dice in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let strategy = strategies().swap_remove(which);
        let (report, world) = World::new(strategy, dice).run();

        let once: BTreeSet<_> = world.started.iter().collect();
        prop_assert_eq!(once.len(), world.started.len(), "nobody starts twice");
        // Who is left behind may still be at work, and makes room all the same.
        let behind = report.left_behind.len();
        prop_assert!(world.most_at_once <= ROOM + behind);
        prop_assert_eq!(report.result.results.len(), world.started.len());
        prop_assert_eq!(
            report.result.not_started.len() + report.result.results.len(),
            MEMBERS
        );
        prop_assert!(world.at_work.iter().all(|member| report.left_behind.contains(member)));
        prop_assert!(!report.result.success || report.cut_short.is_none());
        // What is unknown of a member is unknown of the fleet, and nothing else is.
        let told = report.outcome().spent;
        prop_assert_eq!(told.cost.known_usd, world.spent.known_usd);
        prop_assert_eq!(told.cost.exact().is_none(), world.spent.exact().is_none() || behind > 0);
        prop_assert_eq!(told.tokens, world.tokens);
        if let (Some(spent), 0) = (world.spent.exact(), behind) {
            let mut accounts = Accounts::new("f", cents(100));
            accounts
                .spend("f", &Spending::of_session(Some(spent), Default::default(), Duration::ZERO))
                .expect("an account");
            prop_assert_eq!(report.accounts.free("f"), accounts.free("f"));
        }
        if let Some(winner) = report.result.winning_result() {
            prop_assert!(winner.success);
        }
    }

    #[test]
    fn the_same_words_give_the_same_course(
        which in 0..4_usize,
        dice in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let run = || World::new(strategies().swap_remove(which), dice.clone()).run();
        let ((one, first), (other, second)) = (run(), run());

        prop_assert_eq!(one, other);
        prop_assert_eq!(first.started, second.started);
    }
}

#[test]
fn who_began_after_it_was_told_to_stop_has_no_more_time_for_that() {
    let now = Timestamp::UNIX_EPOCH;
    let member = MemberSpec::new(id("a"), "act", json!(null)).timeout(Duration::from_secs(3600));
    let what = StrategyRun::new(Race {})
        .members([member])
        .patience(Duration::from_secs(20));
    let mut course = FleetCourse::new("f", what, now).expect("it begins");
    let FleetStep::Start { member, .. } = course.next(now) else {
        panic!("nobody starts");
    };
    course.cancel(now);
    assert!(matches!(course.next(now), FleetStep::Stop { .. }));
    course.stopped(now, &member);

    assert_eq!(course.began(now, &member), []);

    let until = Timestamp::from_second(20).ok();
    assert_eq!(course.next(now), FleetStep::Wait { until });
}

#[test]
fn what_a_fleet_is_told_reaches_each_member_once_when_its_run_is_there() {
    use RunInstruction::{Pause, Resume};
    let now = Timestamp::UNIX_EPOCH;
    let say = || RunInstruction::Say("hello".to_owned());
    // What is told while the member starts, and what of it the run hears when it is there.
    for (told, heard) in [
        (vec![], vec![]),
        (vec![Pause], vec![Pause]),
        (vec![Pause, Pause], vec![Pause]),
        (vec![Resume], vec![]),
        (vec![Pause, say(), Resume], vec![Pause, say(), Resume]),
    ] {
        let member = MemberSpec::new(id("a"), "act", json!(null));
        let what = StrategyRun::new(Race {}).members([member]);
        let mut course = FleetCourse::new("f", what, now).expect("it begins");
        let FleetStep::Start { member, .. } = course.next(now) else {
            panic!("nobody starts");
        };

        for told in &told {
            assert_eq!(course.told(now, told), [], "its run may not be there");
        }

        assert_eq!(course.began(now, &member), heard, "{told:?}");
        assert_eq!(course.told(now, &say()), [RunId::new("f.a")]);
    }
}

#[test]
fn a_fleet_travels_as_data() {
    let member =
        MemberSpec::new(id("a"), "act", json!({"seconds": 1})).timeout(Duration::from_millis(1500));
    let what = StrategyRun::new(Race {}).members([member.clone()]);

    let run = what.named(RunId::new("f")).expect("JSON");

    assert_eq!(run.input["members"][0]["timeoutMs"], 1500);
    let read = StrategyRun::of(&run).expect("it is a fleet");
    assert_eq!(read.members, [member]);
    assert_eq!((read.time, read.patience), (what.time, what.patience));
    assert_eq!(read.strategy.typetag_name(), "race");
}

#[test]
fn what_is_left_out_of_a_fleet_is_as_by_default() {
    let text = json!({"strategy": {"type": "race"}});

    let read: StrategyRun = serde_json::from_value(text).expect("it is a fleet");

    let expected = StrategyRun::new(Race {});
    assert_eq!(format!("{read:?}"), format!("{expected:?}"));
}
