//! Hosts that drive the run themselves, one of which holds the lock.

use std::collections::BTreeSet;

use autonoe_core::run::{JournalLine, RunFact, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::{
    Driver, Host, Random, Rules, Simulator, Stats, Store, Violation,
};

use crate::simulation::operator::{self, OperatorRequest};
use crate::simulation::{driver, facts, sessions};

/// Plays the schedule of `seed` with hosts that drive the run themselves.
pub(crate) fn simulate(seed: u64, rules: Rules) -> Result<Stats, Violation> {
    let local = Local::default();
    let played = autonoe_testkit::simulation::simulate(seed, rules, local, |simulation| {
        // A sequence of random numbers that is independent of the simulation's.
        operator::plan(simulation, Random::new(!seed));
    });
    played.map(|(tally, _)| tally)
}

/// A run that is driven by the host that holds its lock.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// Whether a replayed journal led to other decisions than the recorded ones.
    pub(crate) diverged: bool,
    /// The sessions that were ended because the run is cancelled; their agents are gone.
    pub(crate) stopped: BTreeSet<(Epoch, u32)>,
    /// The session that started although the run is cancelled.
    pub(crate) started_after_cancel: Option<u32>,
}

/// The simulation of such a run.
pub(crate) type Hosts = Simulator<Local>;

/// An event at a host.
#[derive(Debug)]
pub(crate) enum Event {
    /// It checks for pending actions, repeatedly.
    Heartbeat { life: u32 },
    /// It checks for pending actions, once.
    Check { life: u32 },
    /// An agent has finished; its result is not written yet.
    SessionOver {
        life: u32,
        epoch: Epoch,
        number: u32,
    },
    /// A fact arrives, possibly late, twice, or from another host.
    FactReceived { fact: Box<RunFact> },
    /// The operator sends a request.
    Requested(OperatorRequest),
}

/// The state of a host: nothing, or the run that it drives.
#[derive(Debug, Default)]
pub(crate) struct HostState {
    pub(crate) drive: Option<Drive>,
}

/// The run as driven by a host. Only the store knows whether the host is still the latest.
#[derive(Debug)]
pub(crate) struct Drive {
    pub(crate) epoch: Epoch,
    /// `None` until the journal is read.
    pub(crate) machine: Option<RunMachine>,
    pub(crate) session: Option<Session>,
}

/// A session of a drive.
#[derive(Debug)]
pub(crate) enum Session {
    Working { number: u32 },
    Over { number: u32, ended: Box<RunFact> },
}

impl HostState {
    /// Gives the run up, after another host has taken it over.
    pub(crate) fn give_up(&mut self, epoch: Epoch) {
        let drive = self.drive.as_ref();
        if drive.is_some_and(|drive| drive.epoch == epoch) {
            self.drive = None;
        }
    }
}

impl Drive {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            machine: None,
            session: None,
        }
    }
}

impl Driver for Local {
    type Event = Event;
    type HostState = HostState;

    fn first(life: u32) -> Event {
        Event::Heartbeat { life }
    }

    fn receives(host: &Host<HostState>, event: &Event) -> bool {
        match event {
            Event::Heartbeat { life } | Event::Check { life } => host.is_current_life(*life),
            Event::SessionOver { life, .. } => host.is_agent_running(*life),
            Event::FactReceived { .. } | Event::Requested(_) => host.is_running(),
        }
    }

    fn reaches_isolated_host(event: &Event) -> bool {
        matches!(event, Event::Heartbeat { .. })
    }

    fn apply(simulation: &mut Hosts, host: usize, event: Event) {
        match event {
            Event::Heartbeat { life } => {
                let is_cut_off = simulation.is_cut_off(host);
                if !is_cut_off {
                    driver::heartbeat(simulation, host);
                }
                if simulation.store.ended.is_none() || is_cut_off {
                    let at = simulation.now + simulation.random.between(2000, 6000);
                    simulation.plan(at, host, Event::Heartbeat { life });
                }
            }
            Event::SessionOver { epoch, number, .. } => {
                sessions::session_over(simulation, host, epoch, number);
            }
            Event::FactReceived { fact } => facts::apply(simulation, host, *fact),
            Event::Requested(wish) => operator::apply_request(simulation, host, wish),
            Event::Check { .. } => driver::perform_pending(simulation, host),
        }
    }

    fn apply_global(simulation: &mut Hosts, event: Event) {
        match event {
            Event::Requested(wish) => operator::send_request(simulation, wish),
            other => unreachable!("{other:?} happens to a host"),
        }
    }

    fn crash(state: &mut HostState, orphan: Option<u32>, store: &mut Store) {
        // The surviving agent keeps the lock until the lease ends.
        if let (Some(drive), None) = (state.drive.take(), orphan) {
            store.release_lock(drive.epoch);
        }
    }

    fn lost(&self, store: &Store) -> usize {
        let is_lost = |line: &&JournalLine| {
            let JournalLine::Fact { fact, .. } = line else {
                return false;
            };
            matches!(fact, RunFact::SessionLost { .. })
        };
        store.journal.iter().filter(is_lost).count()
    }

    fn violation(&self) -> Option<Violation> {
        self.started_after_cancel
            .map(|number| Violation::StartedAfterCancel { number })
            .or(self.diverged.then_some(Violation::Diverged))
    }
}
