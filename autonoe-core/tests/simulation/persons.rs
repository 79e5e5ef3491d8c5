//! Persons: they pause the run, resume it, and cancel it.

use autonoe_core::RunFact;
use autonoe_testkit::simulation::{FAULTS_END, Random};

use crate::simulation::facts;
use crate::simulation::local::{Event, Hosts};

/// What a person wants of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Pause,
    Resume,
    /// Resumes it, and does not give up.
    GoOn,
    /// Cancels it, and does not give up.
    Cancel,
}

/// Plans what persons want. Who pauses the run resumes it.
pub(crate) fn plan(world: &mut Hosts, mut random: Random) {
    for _ in 0..random.between(0, 2) {
        let at = random.between(0, FAULTS_END);
        world.plan_elsewhere(at, Event::Wished(Wish::Pause));
        let at = at + random.between(1000, 40_000);
        world.plan_elsewhere(at, Event::Wished(Wish::Resume));
    }
    if random.happens(25) {
        let at = random.between(0, FAULTS_END);
        world.plan_elsewhere(at, Event::Wished(Wish::Cancel));
    }
    world.plan_elsewhere(FAULTS_END + 60_000, Event::Wished(Wish::GoOn));
}

/// Tells a wish to who drives the run, as far as one knows.
pub(crate) fn wish(world: &mut Hosts, wish: Wish) {
    if world.store.ended.is_some() {
        return;
    }
    let drives = |host: &usize| world.hosts[*host].hands.drive.is_some();
    let driving: Vec<usize> = (0..world.hosts.len()).filter(drives).collect();
    for host in driving {
        world.soon(host, 1000, Event::Wished(wish));
    }
    // It may have been told to nobody, or to one that was overtaken.
    if matches!(wish, Wish::GoOn | Wish::Cancel) {
        let at = world.now + world.random.between(2000, 10_000);
        world.plan_elsewhere(at, Event::Wished(wish));
    }
}

/// Tells a host a wish.
pub(crate) fn hear(world: &mut Hosts, host: usize, wish: Wish) {
    let fact = match wish {
        Wish::Pause => RunFact::PauseRequested,
        Wish::Resume | Wish::GoOn => RunFact::ResumeRequested {
            at: world.at(),
            ledger: Ok(world.store.ledger()),
        },
        Wish::Cancel => RunFact::Cancelled,
    };
    facts::apply(world, host, fact);
}
