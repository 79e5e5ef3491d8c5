//! [`Simulator`]: several hosts, one project and the faults between them, and the verdict of a simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use autonoe_core::ExitReason;
use jiff::Timestamp;

use super::random::Random;
use super::simulated_work::counts;
use super::{Rules, SimulatedWork, Store};

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
    begin: impl FnOnce(&mut Simulator<D>),
) -> Result<(Stats, D), Violation> {
    let mut simulator = Simulator::new(seed, rules, driver);
    begin(&mut simulator);
    while let Some(((now, _), (host, event))) = simulator.events.pop_first() {
        if now > GIVE_UP {
            break;
        }
        simulator.now = now;
        match (host, event) {
            (Some(host), event) => simulator.apply_event(host, event),
            (None, Event::Driven(event)) => D::apply_global(&mut simulator, event),
            (None, fault) => unreachable!("{fault:?} happens to a host"),
        }
    }
    simulator.verdict()
}

/// A planned event and its host, if it concerns one.
type Planned<E> = (Option<usize>, Event<E>);

/// The hosts, their project, and the planned events.
#[derive(Debug)]
pub struct Simulator<D: Driver> {
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
    pub reported_ends: BTreeSet<u32>,
    /// The statistics.
    pub tally: Stats,
    /// The planned events, by time and then in the order in which they were planned.
    events: BTreeMap<(u64, u64), Planned<D::Event>>,
    planned: u64,
}

impl<D: Driver> Simulator<D> {
    fn new(seed: u64, rules: Rules, driver: D) -> Self {
        let mut simulator = Self {
            driver,
            now: 0,
            random: Random::new(seed),
            work: SimulatedWork::new(seed),
            store: Store::new(rules),
            hosts: Default::default(),
            cancelled: false,
            reported_ends: BTreeSet::new(),
            tally: Stats::default(),
            events: BTreeMap::new(),
            planned: 0,
        };
        for host in 0..HOSTS {
            simulator.plan_within(host, 3000, D::first(0));
            let mut at = simulator.random.between(0, 30_000);
            while at < FAULTS_END {
                let fault = match simulator.random.next() % 3 {
                    0 => Event::Crash,
                    1 => Event::Sleep,
                    _ => Event::CutOff,
                };
                simulator.plan_fault(at, host, fault);
                at += simulator.random.between(5000, 60_000);
            }
        }
        simulator
    }

    /// Plans an event of a host.
    pub fn plan(&mut self, at: u64, host: usize, event: D::Event) {
        self.schedule(at, Some(host), Event::Driven(event));
    }

    /// Plans an event of a host within the next `within` milliseconds.
    pub fn plan_within(&mut self, host: usize, within: u64, event: D::Event) {
        let at = self.now + self.random.between(0, within);
        self.plan(at, host, event);
    }

    /// Plans an event that does not concern a host.
    pub fn plan_global(&mut self, at: u64, event: D::Event) {
        self.schedule(at, None, Event::Driven(event));
    }

    pub(super) fn plan_fault(&mut self, at: u64, host: usize, fault: Event<D::Event>) {
        self.schedule(at, Some(host), fault);
    }

    fn schedule(&mut self, at: u64, host: Option<usize>, event: Event<D::Event>) {
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

/// Decides what the hosts of a [`Simulator`] do, with the code under test.
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
    fn apply(simulator: &mut Simulator<Self>, host: usize, event: Self::Event);

    /// Applies an event that does not concern a host; there is none by default.
    fn apply_global(_simulator: &mut Simulator<Self>, event: Self::Event) {
        unreachable!("{event:?} happens to a host");
    }

    /// Clears the state of a crashing host. Its agent may survive as an orphan.
    fn crash(state: &mut Self::HostState, orphan: Option<u32>, store: &mut Store);

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
    pub fn is_running(&self) -> bool {
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

/// An event of a simulation.
#[derive(Debug)]
pub(super) enum Event<E> {
    Crash,
    Restart,
    Sleep,
    CutOff,
    /// An event that the driver has planned.
    Driven(E),
}

impl<D: Driver> Simulator<D> {
    /// Applies `event` to `host`, if the host can still receive it.
    pub(super) fn apply_event(&mut self, host: usize, event: Event<D::Event>) {
        let it = &mut self.hosts[host];
        let event = match event {
            Event::Crash => return self.crash(host),
            Event::Restart => {
                it.down = false;
                let life = it.life;
                return self.plan_within(host, 2000, D::first(life));
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

/// A violated guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A session took effect more than once.
    Repeated {
        /// The number of the session.
        number: u32,
    },
    /// A session that the run counts had no effect.
    Missing {
        /// The number of the session.
        number: u32,
    },
    /// The run does not end although no fault prevents it any more.
    NoEnd,
    /// The result of the run differs from that of a run without faults.
    WrongCounts {
        /// The result.
        found: String,
        /// The expected result.
        expected: String,
    },
    /// The unknown costs are not those of the lost sessions.
    WrongUnknownCosts {
        /// The number of unknown costs.
        found: u32,
        /// The number of lost sessions.
        lost: usize,
    },
    /// Replaying the journal does not reproduce its decisions.
    Diverged,
    /// A cancelled run ended with another reason.
    NotInterrupted {
        /// The reason.
        exit: ExitReason,
    },
    /// A session started although the driver had noticed the cancellation.
    StartedAfterCancel {
        /// The number of the session.
        number: u32,
    },
    /// An epoch was not higher than its predecessor.
    EpochDecreased {
        /// The predecessor.
        from: u64,
        /// The epoch.
        to: u64,
    },
}

/// Statistics of a simulation without violations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of takeovers.
    pub takeovers: u64,
    /// The number of refused writes.
    pub refused: u64,
    /// Number of outcome records that were found.
    pub records_used: u64,
    /// The number of sessions given up as lost.
    pub lost: u64,
    /// The number of duplicated events.
    pub duplicates: u64,
    /// Number of times that the run continued with other limits.
    pub limits_changed: u64,
    /// The number of cancelled runs.
    pub cancelled: u64,
    /// The time of the last event.
    pub ended_at: u64,
}

impl<D: Driver> Simulator<D> {
    /// Compares the simulation with a run without faults, which is cancelled if this one was.
    pub(super) fn verdict(self) -> Result<(Stats, D), Violation> {
        let Store {
            effects,
            ended,
            refused,
            ..
        } = &self.store;
        let times = |number| effects.iter().filter(|done| **done == number).count();
        if let Some(number) = effects.iter().copied().find(|number| times(*number) > 1) {
            return Err(Violation::Repeated { number });
        }
        let report = ended.as_ref().ok_or(Violation::NoEnd)?;
        if self.cancelled && report.exit != ExitReason::Interrupted {
            let exit = report.exit.clone();
            return Err(Violation::NotInterrupted { exit });
        }
        // The last session of a cancelled run may not have ended by itself.
        let completed = if self.cancelled {
            self.reported_ends.last().copied().unwrap_or_default()
        } else {
            report.sessions
        };
        let is_missing = |number: &u32| times(*number) == 0 || !self.reported_ends.contains(number);
        if let Some(number) = (1..=completed).find(is_missing) {
            return Err(Violation::Missing { number });
        }
        let expected = if self.cancelled {
            self.work.cancelled(report.sessions, completed)
        } else {
            self.work.uninterrupted()
        };
        if counts(report) != counts(&expected) {
            return Err(Violation::WrongCounts {
                found: format!("{report:?}"),
                expected: format!("{expected:?}"),
            });
        }
        let lost = self.driver.lost(&self.store);
        if usize::try_from(report.cost.unknown_parts) != Ok(lost) {
            let found = report.cost.unknown_parts;
            return Err(Violation::WrongUnknownCosts { found, lost });
        }
        if let Some(violation) = self.driver.violation() {
            return Err(violation);
        }
        let tally = Stats {
            refused: *refused,
            cancelled: u64::from(self.cancelled),
            ended_at: self.now,
            ..self.tally
        };
        Ok((tally, self.driver))
    }
}
