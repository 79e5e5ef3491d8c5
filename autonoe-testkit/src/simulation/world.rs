//! Several hosts, one project and everything that can go wrong between them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::faults::Event;
use super::{Driver, Host, Random, Rules, Script, Store, Tally, Violation};

/// How many hosts there are.
pub const HOSTS: usize = 3;

/// When nothing goes wrong any more. All times are in milliseconds.
pub const FAULTS_END: u64 = 150_000;

const GIVE_UP: u64 = FAULTS_END + 3_600_000;

/// Plays the schedule of `seed` to its end. `begin` may plan more than hosts and their faults.
///
/// # Errors
///
/// Something was that must never be.
pub fn simulate<D: Driver>(
    seed: u64,
    rules: Rules,
    driver: D,
    begin: impl FnOnce(&mut World<D>),
) -> Result<(Tally, D), Violation> {
    let mut world = World::new(seed, rules, driver);
    begin(&mut world);
    while let Some(((now, _), (host, event))) = world.events.pop_first() {
        if now > GIVE_UP {
            break;
        }
        world.now = now;
        match (host, event) {
            (Some(host), event) => world.happen(host, event),
            (None, Event::Driven(event)) => D::happen_elsewhere(&mut world, event),
            (None, fault) => unreachable!("{fault:?} happens to a host"),
        }
    }
    world.verdict()
}

/// To whom something happens, and what.
type Planned<E> = (Option<usize>, Event<E>);

/// The hosts, their project, and what is to come.
#[derive(Debug)]
pub struct World<D: Driver> {
    /// What decides.
    pub driver: D,
    /// The time, in milliseconds from the start.
    pub now: u64,
    /// What chance decides.
    pub random: Random,
    /// What the sessions do.
    pub script: Script,
    /// The project.
    pub store: Store,
    /// The hosts.
    pub hosts: [Host<D::Hands>; HOSTS],
    /// Whether who decides has taken note that the run is cancelled, and has to keep to that.
    pub cancelled: bool,
    /// The sessions of which who decides was told how they came to their own end.
    pub told: BTreeSet<u32>,
    /// What happened that is worth counting.
    pub tally: Tally,
    /// What is to come, by time and then in the order in which it was planned.
    events: BTreeMap<(u64, u64), Planned<D::Event>>,
    planned: u64,
}

impl<D: Driver> World<D> {
    fn new(seed: u64, rules: Rules, driver: D) -> Self {
        let mut world = Self {
            driver,
            now: 0,
            random: Random::new(seed),
            script: Script::new(seed),
            store: Store::new(rules),
            hosts: Default::default(),
            cancelled: false,
            told: BTreeSet::new(),
            tally: Tally::default(),
            events: BTreeMap::new(),
            planned: 0,
        };
        for host in 0..HOSTS {
            world.soon(host, 3000, D::first(0));
            let mut at = world.random.between(0, 30_000);
            while at < FAULTS_END {
                let fault = match world.random.next() % 3 {
                    0 => Event::Crash,
                    1 => Event::Sleep,
                    _ => Event::CutOff,
                };
                world.plan_fault(at, host, fault);
                at += world.random.between(5000, 60_000);
            }
        }
        world
    }

    /// Plans what happens to a host.
    pub fn plan(&mut self, at: u64, host: usize, event: D::Event) {
        self.put(at, Some(host), Event::Driven(event));
    }

    /// Plans what happens to a host within the next `within` milliseconds.
    pub fn soon(&mut self, host: usize, within: u64, event: D::Event) {
        let at = self.now + self.random.between(0, within);
        self.plan(at, host, event);
    }

    /// Plans what happens elsewhere.
    pub fn plan_elsewhere(&mut self, at: u64, event: D::Event) {
        self.put(at, None, Event::Driven(event));
    }

    pub(super) fn plan_fault(&mut self, at: u64, host: usize, fault: Event<D::Event>) {
        self.put(at, Some(host), fault);
    }

    fn put(&mut self, at: u64, host: Option<usize>, event: Event<D::Event>) {
        self.planned += 1;
        self.events.insert((at, self.planned), (host, event));
    }

    /// Tells whether a host cannot reach the project now.
    pub fn is_cut_off(&self, host: usize) -> bool {
        self.now < self.hosts[host].cut_off_until
    }

    /// Returns the time.
    pub fn at(&self) -> Timestamp {
        let millis = i64::try_from(self.now).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }
}
