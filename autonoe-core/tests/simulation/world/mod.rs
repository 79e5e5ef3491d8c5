//! Several hosts, one project and everything that can go wrong between them.

mod driving;
mod events;
mod facts;
mod sessions;
mod verdict;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::host::Host;
use crate::random::Random;
use crate::script::Script;
use crate::store::{Rules, Store};
use events::Event;

pub(crate) use verdict::{Tally, Violation};

const HOSTS: usize = 3;

// All times are in milliseconds.
const FAULTS_END: u64 = 150_000;
const GIVE_UP: u64 = FAULTS_END + 3_600_000;

/// Plays the schedule of `seed` to its end.
pub(crate) fn simulate(seed: u64, rules: Rules) -> Result<Tally, Violation> {
    let mut world = World::new(seed, rules);
    while let Some(((now, _), (host, event))) = world.events.pop_first() {
        if now > GIVE_UP {
            break;
        }
        world.now = now;
        world.happen(host, event);
    }
    world.verdict()
}

/// The hosts, their project, and what is to come.
struct World {
    now: u64,
    random: Random,
    script: Script,
    store: Store,
    hosts: [Host; HOSTS],
    /// What is to come, by time and then in the order in which it was planned.
    events: BTreeMap<(u64, u64), (usize, Event)>,
    planned: u64,
    diverged: bool,
    tally: Tally,
}

impl World {
    fn new(seed: u64, rules: Rules) -> Self {
        let mut world = Self {
            now: 0,
            random: Random::new(seed),
            script: Script::new(seed),
            store: Store::new(rules),
            hosts: Default::default(),
            events: BTreeMap::new(),
            planned: 0,
            diverged: false,
            tally: Tally::default(),
        };
        for host in 0..HOSTS {
            world.soon(host, 3000, Event::Beat { life: 0 });
            let mut at = world.random.between(0, 30_000);
            while at < FAULTS_END {
                let fault = match world.random.next() % 3 {
                    0 => Event::Crash,
                    1 => Event::Sleep,
                    _ => Event::CutOff,
                };
                world.plan(at, host, fault);
                at += world.random.between(5000, 60_000);
            }
        }
        world
    }

    fn plan(&mut self, at: u64, host: usize, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), (host, event));
    }

    /// Plans `event` within the next `within` milliseconds.
    fn soon(&mut self, host: usize, within: u64, event: Event) {
        let at = self.now + self.random.between(0, within);
        self.plan(at, host, event);
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millisecond(i64::try_from(self.now).expect("small")).expect("in range")
    }
}
