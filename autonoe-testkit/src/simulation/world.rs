//! [`World`]: several hosts, one project and the faults between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jiff::Timestamp;

use super::faults::Event;
use super::{Random, Rules, SimulatedWork, Stats, Store, Violation};

/// The number of hosts.
pub const HOSTS: usize = 3;

/// The time after which no fault occurs. All times are in milliseconds.
pub const FAULTS_END: u64 = 150_000;

const GIVE_UP: u64 = FAULTS_END + 3_600_000;

/// Plays the schedule of `seed` to its end. `begin` may plan additional events besides those of
/// hosts and their faults.
///
/// # Errors
///
/// If a guarantee was violated.
pub fn simulate<D: Driver>(
    seed: u64,
    rules: Rules,
    driver: D,
    begin: impl FnOnce(&mut World<D>),
) -> Result<(Stats, D), Violation> {
    let mut world = World::new(seed, rules, driver);
    begin(&mut world);
    while let Some(((now, _), (host, event))) = world.events.pop_first() {
        if now > GIVE_UP {
            break;
        }
        world.now = now;
        match (host, event) {
            (Some(host), event) => world.apply_event(host, event),
            (None, Event::Driven(event)) => D::apply_global(&mut world, event),
            (None, fault) => unreachable!("{fault:?} happens to a host"),
        }
    }
    world.verdict()
}

/// A planned event and its host, if it concerns one.
type Planned<E> = (Option<usize>, Event<E>);

/// The hosts, their project, and the planned events.
#[derive(Debug)]
pub struct World<D: Driver> {
    /// The code that decides what hosts do.
    pub driver: D,
    /// The time, in milliseconds from the start.
    pub now: u64,
    /// The source of randomness.
    pub random: Random,
    /// The work of the sessions.
    pub work: SimulatedWork,
    /// The project.
    pub store: Store,
    /// The hosts.
    pub hosts: [Host<D::HostState>; HOSTS],
    /// Whether the driver has noticed the cancellation of the run and must respect it.
    pub cancelled: bool,
    /// The sessions whose own end was reported to the driver.
    pub told: BTreeSet<u32>,
    /// The statistics.
    pub tally: Stats,
    /// The planned events, by time and then in the order in which they were planned.
    events: BTreeMap<(u64, u64), Planned<D::Event>>,
    planned: u64,
}

impl<D: Driver> World<D> {
    fn new(seed: u64, rules: Rules, driver: D) -> Self {
        let mut world = Self {
            driver,
            now: 0,
            random: Random::new(seed),
            work: SimulatedWork::new(seed),
            store: Store::new(rules),
            hosts: Default::default(),
            cancelled: false,
            told: BTreeSet::new(),
            tally: Stats::default(),
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

    /// Plans an event of a host.
    pub fn plan(&mut self, at: u64, host: usize, event: D::Event) {
        self.put(at, Some(host), Event::Driven(event));
    }

    /// Plans an event of a host within the next `within` milliseconds.
    pub fn soon(&mut self, host: usize, within: u64, event: D::Event) {
        let at = self.now + self.random.between(0, within);
        self.plan(at, host, event);
    }

    /// Plans an event that does not concern a host.
    pub fn plan_global(&mut self, at: u64, event: D::Event) {
        self.put(at, None, Event::Driven(event));
    }

    pub(super) fn plan_fault(&mut self, at: u64, host: usize, fault: Event<D::Event>) {
        self.put(at, Some(host), fault);
    }

    fn put(&mut self, at: u64, host: Option<usize>, event: Event<D::Event>) {
        self.planned += 1;
        self.events.insert((at, self.planned), (host, event));
    }

    /// Returns whether a host cannot reach the project now.
    pub fn is_cut_off(&self, host: usize) -> bool {
        self.now < self.hosts[host].cut_off_until
    }

    /// Returns the current time.
    pub fn at(&self) -> Timestamp {
        let millis = i64::try_from(self.now).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }
}

/// Decides what the hosts of a [`World`] do, with the code under test.
pub trait Driver: Sized {
    /// An event other than a fault.
    type Event: Debug;

    /// The in-memory state of a host.
    type HostState: Debug + Default;

    /// Returns the first event of a host in each of its lives.
    fn first(life: u32) -> Self::Event;

    /// Returns whether a host can still receive an event.
    fn receives(host: &Host<Self::HostState>, event: &Self::Event) -> bool;

    /// Returns whether an event also reaches a host that is cut off. All others are then delayed.
    fn reaches_isolated_host(event: &Self::Event) -> bool;

    /// Applies an event to a host that is awake.
    fn apply(world: &mut World<Self>, host: usize, event: Self::Event);

    /// Applies an event that does not concern a host; there is none by default.
    fn apply_global(_world: &mut World<Self>, event: Self::Event) {
        unreachable!("{event:?} happens to a host");
    }

    /// Clears the state of a crashing host. Its agent may survive as an orphan.
    fn crash(hands: &mut Self::HostState, orphan: Option<u32>, store: &mut Store);

    /// Returns the number of sessions given up as lost.
    fn lost(&self, store: &Store) -> usize;

    /// Returns a violation that the driver itself has found.
    fn violation(&self) -> Option<Violation>;
}

/// A machine that may work on the run.
#[derive(Debug, Default)]
pub struct Host<H> {
    /// The number of starts; the state of an earlier life is lost.
    pub life: u32,
    /// An earlier life whose agent survived the crash.
    pub orphan: Option<u32>,
    pub(super) down: bool,
    pub(super) asleep_until: u64,
    /// The time until which it cannot reach the store.
    pub(super) cut_off_until: u64,
    /// The in-memory state.
    pub state: H,
}

impl<H> Host<H> {
    /// Returns whether the host is up.
    pub fn is_up(&self) -> bool {
        !self.down
    }

    /// Returns whether the work that `life` started still exists.
    pub fn is_current_life(&self, life: u32) -> bool {
        !self.down && self.life == life
    }

    /// Returns whether the agent that `life` started is still running.
    pub fn is_agent_running(&self, life: u32) -> bool {
        self.is_current_life(life) || self.orphan == Some(life)
    }
}
