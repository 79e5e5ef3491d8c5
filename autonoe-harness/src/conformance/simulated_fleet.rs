//! A fleet that only pretends to work.

use std::time::Duration;

use crate::{AggregatedResult, Fleet, HarnessId, HarnessResult, MemberState, Order, Strategy};

/// A fleet whose members do what was decided before: no process, no clock, the same end each time.
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

/// What one member will do when it is started.
#[derive(Clone, Debug)]
pub struct SimulatedMember {
    /// Whether it will succeed.
    pub success: bool,
    /// How long it will work.
    pub time: Duration,
    /// How many of its tests will pass.
    pub tests_passed: Option<u64>,
    /// How many deliverables will have passed in its ledger.
    pub deliverables_passed: u64,
    /// How many success criteria will hold.
    pub criteria_passed: u64,
    /// How many of its attempts will fail.
    pub failures: u32,
}

/// How a simulated fleet ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationEnd {
    /// What it came to.
    pub result: AggregatedResult,
    /// What members were given when they were started, in the order in which they were.
    pub inputs: Vec<(HarnessId, Option<String>)>,
    /// How many worked at once at most.
    pub most_at_once: usize,
    /// When it was over.
    pub time: Duration,
}

impl SimulatedMember {
    /// Makes one that succeeds after `time`.
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

    /// Makes one that fails after `time`.
    pub fn fails(time: Duration) -> Self {
        Self {
            success: false,
            criteria_passed: 0,
            ..Self::succeeds(time)
        }
    }

    fn result(&self, id: HarnessId, time: Duration) -> HarnessResult {
        let mut result = match self.success {
            true => {
                let output = format!("output of {id}");
                HarnessResult::success(id, output)
            }
            false => HarnessResult::failure(id, "it failed"),
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
    /// Makes a fleet of members with the names `0`, `1` and so on, that can all work at once.
    pub fn new(members: impl IntoIterator<Item = SimulatedMember>) -> Self {
        let members: Vec<_> = members.into_iter().collect();
        Self {
            room: members.len().max(1),
            members,
        }
    }

    /// Limits how many work at once.
    #[must_use]
    pub fn with_room(mut self, room: usize) -> Self {
        self.room = room.max(1);
        self
    }

    /// Lets `strategy` lead the fleet to its end.
    ///
    /// # Errors
    ///
    /// It breaks its contract; the text says how.
    pub fn run(&self, strategy: &dyn Strategy) -> Result<SimulationEnd, String> {
        let names = (0..self.members.len()).map(|number| HarnessId::new(number.to_string()));
        let mut course = Course {
            simulated: self,
            fleet: Fleet::new(names),
            ends: Vec::new(),
            now: Duration::ZERO,
            inputs: Vec::new(),
            most_at_once: 0,
        };
        // Each member is started and stopped at most once, and ends once.
        for _ in 0..=4 * self.members.len() {
            if let Some(end) = course.step(strategy)? {
                return Ok(end);
            }
        }
        Err("it does not come to an end".to_owned())
    }
}

struct Course<'a> {
    simulated: &'a SimulatedFleet,
    fleet: Fleet,
    /// When those that work will end.
    ends: Vec<(Duration, usize)>,
    now: Duration,
    inputs: Vec<(HarnessId, Option<String>)>,
    most_at_once: usize,
}

impl Course<'_> {
    fn step(&mut self, strategy: &dyn Strategy) -> Result<Option<SimulationEnd>, String> {
        let orders = strategy.decide(&self.fleet);
        if orders != strategy.decide(&self.fleet) {
            return Err("the same fleet gives other orders".to_owned());
        }
        for order in orders {
            match order {
                Order::Start { member, input } => self.start(member, input)?,
                Order::Stop { member, .. } => self.stop(&member)?,
                Order::Finish(decision) => {
                    let result = self.fleet.aggregate(strategy.typetag_name(), decision);
                    self.judge(&result)?;
                    return Ok(Some(SimulationEnd {
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

    fn start(&mut self, id: HarnessId, input: Option<String>) -> Result<(), String> {
        match self.fleet.member(&id).map(|member| &member.state) {
            Some(MemberState::Waiting) => {}
            state => return Err(format!("it starts {id}, which is {state:?}")),
        }
        // The others wait: the strategy will ask for them again.
        if self.ends.len() >= self.simulated.room {
            return Ok(());
        }
        let number = self.number(&id)?;
        self.fleet.began(&id);
        self.ends
            .push((self.now + self.simulated.members[number].time, number));
        self.inputs.push((id, input));
        self.most_at_once = self.most_at_once.max(self.ends.len());
        Ok(())
    }

    fn stop(&mut self, id: &HarnessId) -> Result<(), String> {
        match self.fleet.member(id).map(|member| &member.state) {
            Some(MemberState::Running) => {}
            state => return Err(format!("it stops {id}, which is {state:?}")),
        }
        self.fleet.stopping(id);
        Ok(())
    }

    /// Lets the next member end.
    fn pass_time(&mut self) -> Result<(), String> {
        let next = self.ends.iter().enumerate().min_by_key(|(_, end)| **end);
        let Some((place, &(at, number))) = next else {
            return Err("it waits, and nothing is at work".to_owned());
        };
        self.ends.remove(place);
        let id = self.fleet.members()[number].id.clone();
        let was_stopped = self.fleet.members()[number].state == MemberState::Stopping;
        let result = match was_stopped {
            // It ends at once.
            true => HarnessResult::failure(id, "it was stopped"),
            false => {
                self.now = self.now.max(at);
                let member = &self.simulated.members[number];
                member.result(id, member.time)
            }
        };
        self.fleet.ended(result);
        Ok(())
    }

    fn judge(&self, result: &AggregatedResult) -> Result<(), String> {
        if self.fleet.is_at_work() {
            return Err("it finishes while members are at work".to_owned());
        }
        match (&result.winner, result.winning_result()) {
            (None, _) => {}
            (Some(_), Some(winner)) if winner.success => {}
            (Some(id), Some(_)) => return Err(format!("{id} failed and wins")),
            (Some(id), None) => return Err(format!("{id} wins and was not there")),
        }
        match result.success && !result.results.iter().any(|result| result.success) {
            true => Err("it succeeds, and nobody did".to_owned()),
            false => Ok(()),
        }
    }

    fn number(&self, id: &HarnessId) -> Result<usize, String> {
        let members = self.fleet.members();
        let number = members.iter().position(|member| member.id == *id);
        number.ok_or_else(|| format!("there is no member {id}"))
    }
}
