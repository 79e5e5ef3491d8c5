//! Hosts that drive the run themselves, whoever holds the lock.

use std::collections::BTreeSet;

use autonoe_core::{Epoch, JournalLine, RunFact, RunMachine};
use autonoe_testkit::simulation::{Driver, Host, Random, Rules, Store, Tally, Violation, World};

use crate::simulation::persons::{self, Wish};
use crate::simulation::{driving, facts, sessions};

/// Plays the schedule of `seed` with hosts that drive the run themselves.
pub(crate) fn simulate(seed: u64, rules: Rules) -> Result<Tally, Violation> {
    let local = Local::default();
    let played = autonoe_testkit::simulation::simulate(seed, rules, local, |world| {
        // Another row of numbers than that of the world.
        persons::plan(world, Random::new(!seed));
    });
    played.map(|(tally, _)| tally)
}

/// A run that is driven by the host that holds its lock.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// Whether a journal did not give the decisions again that it holds.
    pub(crate) diverged: bool,
    /// The sessions that were ended because the run is cancelled; their agents are gone.
    pub(crate) stopped: BTreeSet<(Epoch, u32)>,
    /// The session that began although the run is cancelled.
    pub(crate) begun_after_cancel: Option<u32>,
}

/// The world of such a run.
pub(crate) type Hosts = World<Local>;

/// Something that happens to a host.
#[derive(Debug)]
pub(crate) enum Event {
    /// It looks what there is to do, again and again.
    Beat { life: u32 },
    /// It looks what there is to do, once.
    Look { life: u32 },
    /// An agent is done; what it did is yet to be written.
    SessionOver {
        life: u32,
        epoch: Epoch,
        number: u32,
    },
    /// It is told a fact, late or twice perhaps, and perhaps one of another host.
    Told { fact: Box<RunFact> },
    /// A person wants something.
    Wished(Wish),
}

/// What a host has in its hands: nothing, or the run.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub(crate) drive: Option<Drive>,
}

/// The run in the hands of a host. Whether it still is the latest, only the store knows.
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

impl Hands {
    /// Gives the run up, having learnt that another host has it.
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
    type Hands = Hands;

    fn first(life: u32) -> Event {
        Event::Beat { life }
    }

    fn sees(host: &Host<Hands>, event: &Event) -> bool {
        match event {
            Event::Beat { life } | Event::Look { life } => host.lives(*life),
            Event::SessionOver { life, .. } => host.agent_lives(*life),
            Event::Told { .. } | Event::Wished(_) => host.is_up(),
        }
    }

    fn needs_no_touch(event: &Event) -> bool {
        matches!(event, Event::Beat { .. })
    }

    fn happen(world: &mut Hosts, host: usize, event: Event) {
        match event {
            Event::Beat { life } => {
                let is_cut_off = world.is_cut_off(host);
                if !is_cut_off {
                    driving::beat(world, host);
                }
                if world.store.ended.is_none() || is_cut_off {
                    let at = world.now + world.random.between(2000, 6000);
                    world.plan(at, host, Event::Beat { life });
                }
            }
            Event::SessionOver { epoch, number, .. } => {
                sessions::session_over(world, host, epoch, number);
            }
            Event::Told { fact } => facts::apply(world, host, *fact),
            Event::Wished(wish) => persons::hear(world, host, wish),
            Event::Look { .. } => driving::look(world, host),
        }
    }

    fn happen_elsewhere(world: &mut Hosts, event: Event) {
        match event {
            Event::Wished(wish) => persons::wish(world, wish),
            other => unreachable!("{other:?} happens to a host"),
        }
    }

    fn crash(hands: &mut Hands, orphan: Option<u32>, store: &mut Store) {
        // The agent that lives on keeps the lock, until the lease is over.
        if let (Some(drive), None) = (hands.drive.take(), orphan) {
            store.free_lock(drive.epoch);
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
        let begun = self.begun_after_cancel;
        let begun = begun.map(|number| Violation::BegunAfterCancel { number });
        begun.or(self.diverged.then_some(Violation::Diverged))
    }
}
