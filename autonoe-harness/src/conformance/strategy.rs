//! Conformance suite of strategies, and the simulated fleet that it runs.

use std::time::Duration;

use autonoe_testkit::conformance::{Checks, Conformance, Flaw};

use crate::coordinate::FleetReport;
use crate::strategy::{Fleet, MemberId, MemberReport, MemberState, Order, Strategy};

/// Number of simulated fleets per check.
const FLEETS: u64 = 300;

/// Checks a [`Strategy`] against its contract, on many simulated fleets.
///
/// ```
/// use autonoe_harness::{Pipeline, conformance};
///
/// conformance::strategy(&Pipeline {}).assert();
/// ```
pub fn strategy(strategy: &dyn Strategy) -> Conformance {
    let mut checks = Checks::new("strategy");
    checks.run_sync("a fleet without members finishes without success", || {
        let end = SimulatedFleet::new([])
            .run(strategy)
            .map_err(Flaw::Failed)?;
        if end.result.success {
            Err(Flaw::Failed("the fleet succeeds".to_owned()))
        } else {
            Ok(())
        }
    });
    for (check, success) in [
        ("a fleet in which all members succeed finishes", Some(true)),
        ("a fleet in which all members fail finishes", Some(false)),
        ("a fleet with random outcomes finishes", None),
    ] {
        checks.run_sync(check, || {
            for seed in 0..FLEETS {
                let fleet = fleet(seed, success);
                fleet
                    .run(strategy)
                    .map_err(|reason| Flaw::Failed(format!("{reason}: {fleet:?}")))?;
            }
            Ok(())
        });
    }
    checks.run_sync("a fleet in which all members fail does not succeed", || {
        for seed in 0..FLEETS {
            let fleet = fleet(seed, Some(false));
            let end = fleet.run(strategy).map_err(Flaw::Failed)?;
            if end.result.success || end.result.winner.is_some() {
                return Err(Flaw::Failed(format!("{:?}: {fleet:?}", end.result)));
            }
        }
        Ok(())
    });
    checks.run_sync(
        "the number of running members never exceeds the limit",
        || {
            for seed in 0..FLEETS {
                let fleet = fleet(seed, None).max_concurrent(2);
                let end = fleet.run(strategy).map_err(Flaw::Failed)?;
                if end.most_at_once > 2 {
                    return Err(Flaw::Failed(format!(
                        "{} members run at once",
                        end.most_at_once
                    )));
                }
            }
            Ok(())
        },
    );
    checks.run_sync("a strategy survives serialisation", || {
        let written = serde_json::to_value(strategy).map_err(|error| error.to_string())?;
        let read: Box<dyn Strategy> =
            serde_json::from_value(written).map_err(|error| error.to_string())?;
        for seed in 0..FLEETS {
            let fleet = fleet(seed, None);
            if fleet.run(strategy).ok() != fleet.run(&*read).ok() {
                return Err(Flaw::Failed(format!(
                    "the deserialised strategy decides differently: {fleet:?}"
                )));
            }
        }
        Ok(())
    });
    checks.finish()
}

/// Creates a fleet from a seed: equal seeds give equal fleets.
fn fleet(seed: u64, success: Option<bool>) -> SimulatedFleet {
    let mut rng = SplitMix64(seed);
    let members = (0..rng.next_below(9)).map(|_| {
        let mut member = SimulatedMember::succeeds(Duration::from_millis(rng.next_below(50)));
        member.success = success.unwrap_or(rng.next_below(2) == 0);
        member.deliverables_passed = rng.next_below(3);
        member.criteria_passed = rng.next_below(3);
        member.tests_passed = (rng.next_below(3) > 0).then(|| rng.next_below(4));
        member.failures = u32::try_from(rng.next_below(4)).unwrap_or_default();
        member
    });
    let members: Vec<_> = members.collect();
    let room = usize::try_from(rng.next_below(10)).unwrap_or_default();
    SimulatedFleet::new(members).max_concurrent(room)
}

/// Deterministic pseudo-random numbers (splitmix64).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next_below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// A fleet with predetermined results: no processes, no clock, and the same outcome in every run.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_harness::Race;
/// use autonoe_harness::conformance::{SimulatedFleet, SimulatedMember};
///
/// let slow = SimulatedMember::succeeds(Duration::from_secs(9));
/// let quick = SimulatedMember::fails(Duration::from_secs(1));
/// let end = SimulatedFleet::new([slow, quick]).run(&Race {}).expect("it keeps the contract");
///
/// assert_eq!(end.result.winner.expect("one succeeds").as_str(), "0");
/// ```
#[derive(Clone, Debug)]
pub struct SimulatedFleet {
    members: Vec<SimulatedMember>,
    room: usize,
}

/// Predetermined result of one member.
#[derive(Clone, Debug)]
pub struct SimulatedMember {
    /// Whether the member succeeds.
    pub success: bool,
    /// Working time of the member.
    pub time: Duration,
    /// Number of its tests that pass.
    pub tests_passed: Option<u64>,
    /// Number of deliverables that pass in its ledger.
    pub deliverables_passed: u64,
    /// Number of success criteria that hold.
    pub criteria_passed: u64,
    /// Number of its attempts that fail.
    pub failures: u32,
}

/// Outcome of a simulated fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationReport {
    /// The aggregated result.
    pub result: FleetReport,
    /// The inputs of the started members, in start order.
    pub inputs: Vec<(MemberId, Option<String>)>,
    /// The highest number of members that ran at once.
    pub most_at_once: usize,
    /// The simulated time at the end.
    pub time: Duration,
}

impl SimulatedMember {
    /// Creates a member that succeeds after `time`.
    pub fn succeeds(time: Duration) -> Self {
        Self {
            success: true,
            time,
            tests_passed: None,
            deliverables_passed: 0,
            criteria_passed: 1,
            failures: 0,
        }
    }

    /// Creates a member that fails after `time`.
    pub fn fails(time: Duration) -> Self {
        Self {
            success: false,
            criteria_passed: 0,
            ..Self::succeeds(time)
        }
    }

    fn result(&self, id: MemberId, time: Duration) -> MemberReport {
        let mut result = if self.success {
            let output = format!("output of {id}");
            MemberReport::success(id, output)
        } else {
            MemberReport::failure(id, "it failed")
        };
        result.deliverables_passed = self.deliverables_passed;
        result.criteria_passed = self.criteria_passed;
        result.tests_passed = self.tests_passed;
        result.failures = self.failures;
        result.duration = time;
        result
    }
}

impl SimulatedFleet {
    /// Creates a fleet of members named `0`, `1` and so on, which can all run at once.
    pub fn new(members: impl IntoIterator<Item = SimulatedMember>) -> Self {
        let members: Vec<_> = members.into_iter().collect();
        Self {
            room: members.len().max(1),
            members,
        }
    }

    /// Limits the number of members that run at once.
    #[must_use]
    pub fn max_concurrent(mut self, room: usize) -> Self {
        self.room = room.max(1);
        self
    }

    /// Runs the fleet under `strategy` until it finishes.
    ///
    /// # Errors
    ///
    /// The strategy violates its contract; the text describes the violation.
    pub fn run(&self, strategy: &dyn Strategy) -> Result<SimulationReport, String> {
        let names = (0..self.members.len()).map(|number| MemberId::new(number.to_string()));
        let mut simulation = Simulation {
            simulated: self,
            fleet: Fleet::new(names),
            ends: Vec::new(),
            now: Duration::ZERO,
            inputs: Vec::new(),
            most_at_once: 0,
        };
        // Each member starts, stops and ends at most once.
        for _ in 0..=4 * self.members.len() {
            if let Some(end) = simulation.step(strategy)? {
                return Ok(end);
            }
        }
        Err("the strategy does not finish".to_owned())
    }
}

struct Simulation<'a> {
    simulated: &'a SimulatedFleet,
    fleet: Fleet,
    /// End times of the running members.
    ends: Vec<(Duration, usize)>,
    now: Duration,
    inputs: Vec<(MemberId, Option<String>)>,
    most_at_once: usize,
}

impl Simulation<'_> {
    fn step(&mut self, strategy: &dyn Strategy) -> Result<Option<SimulationReport>, String> {
        let orders = strategy.decide(&self.fleet);
        if orders != strategy.decide(&self.fleet) {
            return Err("the same fleet leads to different decisions".to_owned());
        }
        for order in orders {
            match order {
                Order::Start { member, input } => self.start(member, input)?,
                Order::Stop { member, .. } => self.stop(&member)?,
                Order::Finish(decision) => {
                    let result = FleetReport::new(strategy.typetag_name(), &self.fleet, decision);
                    self.judge(&result)?;
                    return Ok(Some(SimulationReport {
                        result,
                        inputs: self.inputs.clone(),
                        most_at_once: self.most_at_once,
                        time: self.now,
                    }));
                }
            }
        }
        self.pass_time()?;
        Ok(None)
    }

    fn start(&mut self, id: MemberId, input: Option<String>) -> Result<(), String> {
        match self.fleet.member(&id).map(|member| &member.state) {
            Some(MemberState::Waiting) => {}
            state => return Err(format!("the strategy starts {id}, which is {state:?}")),
        }
        // The member keeps waiting: the strategy will order its start again.
        if self.ends.len() >= self.simulated.room {
            return Ok(());
        }
        let number = self.number(&id)?;
        self.fleet.mark_running(&id);
        self.ends
            .push((self.now + self.simulated.members[number].time, number));
        self.inputs.push((id, input));
        self.most_at_once = self.most_at_once.max(self.ends.len());
        Ok(())
    }

    fn stop(&mut self, id: &MemberId) -> Result<(), String> {
        match self.fleet.member(id).map(|member| &member.state) {
            Some(MemberState::Running) => {}
            state => return Err(format!("the strategy stops {id}, which is {state:?}")),
        }
        self.fleet.mark_stopping(id);
        Ok(())
    }

    /// Ends the next member.
    fn pass_time(&mut self) -> Result<(), String> {
        let next = self.ends.iter().enumerate().min_by_key(|(_, end)| **end);
        let Some((place, &(at, number))) = next else {
            return Err("the strategy waits, and no member is running".to_owned());
        };
        self.ends.remove(place);
        let id = self.fleet.members()[number].id.clone();
        let was_stopped = self.fleet.members()[number].state == MemberState::Stopping;
        let result = if was_stopped {
            // A stopped member ends immediately.
            MemberReport::failure(id, "it was stopped")
        } else {
            self.now = self.now.max(at);
            let member = &self.simulated.members[number];
            member.result(id, member.time)
        };
        self.fleet.record_result(result);
        Ok(())
    }

    fn judge(&self, result: &FleetReport) -> Result<(), String> {
        if self.fleet.has_running_members() {
            return Err("the strategy finishes while members are running".to_owned());
        }
        match (&result.winner, result.winning_result()) {
            (None, _) => {}
            (Some(_), Some(winner)) if winner.success => {}
            (Some(id), Some(_)) => return Err(format!("{id} failed, but is the winner")),
            (Some(id), None) => return Err(format!("{id} is the winner, but is not a member")),
        }
        if result.success && !result.results.iter().any(|result| result.success) {
            Err("the fleet succeeds, but no member did".to_owned())
        } else {
            Ok(())
        }
    }

    fn number(&self, id: &MemberId) -> Result<usize, String> {
        let members = self.fleet.members();
        let number = members.iter().position(|member| member.id == *id);
        number.ok_or_else(|| format!("there is no member {id}"))
    }
}
