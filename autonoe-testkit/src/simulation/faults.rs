//! Faults of a simulated host, and the random numbers that choose them.

use super::{Driver, World};

/// An event in a world.
#[derive(Debug)]
pub(super) enum Event<E> {
    Crash,
    Restart,
    Sleep,
    CutOff,
    /// An event that the driver has planned.
    Driven(E),
}

impl<D: Driver> World<D> {
    /// Applies `event` to `host`, if the host can still receive it.
    pub(super) fn apply_event(&mut self, host: usize, event: Event<D::Event>) {
        let it = &mut self.hosts[host];
        let event = match event {
            Event::Crash => return self.crash(host),
            Event::Restart => {
                it.down = false;
                let life = it.life;
                return self.soon(host, 2000, D::first(life));
            }
            Event::Sleep => {
                it.asleep_until = self.now + self.random.between(1000, 60_000);
                return;
            }
            Event::CutOff => {
                it.cut_off_until = self.now + self.random.between(1000, 60_000);
                return;
            }
            Event::Driven(event) => event,
        };
        if !D::receives(it, &event) {
            return;
        }
        // Events during sleep arrive when the host wakes up, in any order.
        if self.now < it.asleep_until {
            let at = it.asleep_until + self.random.between(0, 500);
            return self.plan(at, host, event);
        }
        if self.now < it.cut_off_until && !D::reaches_isolated_host(&event) {
            let at = self.now + self.random.between(1000, 8000);
            return self.plan(at, host, event);
        }
        D::apply(self, host, event);
    }

    fn crash(&mut self, host: usize) {
        let it = &mut self.hosts[host];
        if it.down {
            return;
        }
        // The agent may survive. Then it keeps the lock.
        it.orphan = self.random.next().is_multiple_of(3).then_some(it.life);
        D::crash(&mut it.state, it.orphan, &mut self.store);
        it.life += 1;
        it.down = true;
        let at = self.now + self.random.between(500, 40_000);
        self.plan_fault(at, host, Event::Restart);
    }
}

/// The splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random number.
    #[allow(clippy::should_implement_trait)] // It never ends.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// Returns true in `percent` of all cases.
    pub fn happens(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}
