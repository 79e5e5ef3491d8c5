//! Several hosts, one project and everything that can go wrong between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jiff::Timestamp;

use super::faults::Event;
use super::{Random, Rules, Script, Store, Tally, Violation};

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

/// Decides what the hosts of a [`World`] do, as the code under test does.
pub trait Driver: Sized {
    /// Something that happens beside faults.
    type Event: Debug;

    /// What a host has in its hands.
    type Hands: Debug + Default;

    /// Returns what a host does first in each of its lives.
    fn first(life: u32) -> Self::Event;

    /// Tells whether a host is still there to see an event.
    fn sees(host: &Host<Self::Hands>, event: &Self::Event) -> bool;

    /// Tells whether an event happens also to a host that is cut off. All others come later then.
    fn needs_no_touch(event: &Self::Event) -> bool;

    /// Lets an event happen to a host that is awake.
    fn happen(world: &mut World<Self>, host: usize, event: Self::Event);

    /// Lets an event happen that is nobody's in particular; there is none by default.
    fn happen_elsewhere(_world: &mut World<Self>, event: Self::Event) {
        unreachable!("{event:?} happens to a host");
    }

    /// Empties the hands of a host that crashes. Its agent may live on, as an orphan.
    fn crash(hands: &mut Self::Hands, orphan: Option<u32>, store: &mut Store);

    /// Returns how many sessions it gave up as lost.
    fn lost(&self, store: &Store) -> usize;

    /// Returns what it found that must never be, of its own.
    fn violation(&self) -> Option<Violation>;
}

/// One of the machines that may work on the run.
#[derive(Debug, Default)]
pub struct Host<H> {
    /// Counts the starts; what an earlier life had in mind is gone.
    pub life: u32,
    /// An earlier life whose agent lives on after the crash.
    pub orphan: Option<u32>,
    pub(super) down: bool,
    pub(super) asleep_until: u64,
    /// Until when it cannot reach the store.
    pub(super) cut_off_until: u64,
    /// What it has in its hands.
    pub hands: H,
}

impl<H> Host<H> {
    /// Tells whether it is not down.
    pub fn is_up(&self) -> bool {
        !self.down
    }

    /// Tells whether what `life` began is still there.
    pub fn lives(&self, life: u32) -> bool {
        !self.down && self.life == life
    }

    /// Tells whether the agent that `life` started is still there.
    pub fn agent_lives(&self, life: u32) -> bool {
        self.lives(life) || self.orphan == Some(life)
    }
}
