//! How a host drives the run: it takes over, reads the journal and does what the machine asks for.

use std::time::Duration;

use autonoe_core::{Epoch, GivenLimits, JournalLine, RecordedRun, RunAction, RunFact, RunMachine};
use autonoe_testkit::simulation::{Fenced, Script};

use crate::simulation::local::{Drive, Event, Hosts};
use crate::simulation::{facts, sessions};

/// How long a lock is kept without a beat.
const LEASE: u64 = 12_000;

/// Keeps the lock and looks what there is to do, or tries to take over.
pub(crate) fn beat(world: &mut Hosts, host: usize) {
    let until = world.now + LEASE;
    let it = &mut world.hosts[host];
    match &it.hands.drive {
        Some(drive) => {
            let epoch = drive.epoch;
            if world.store.keep_lock(epoch, until).is_err() {
                return it.hands.give_up(epoch);
            }
            look(world, host);
        }
        None => {
            if let Some(epoch) = world.store.take_over(world.now, until) {
                world.tally.takeovers += 1;
                it.hands.drive = Some(Drive::new(epoch));
                let life = it.life;
                world.soon(host, 1500, Event::Look { life });
            }
        }
    }
}

/// Does what the machine asks for, as far as it is not under way.
pub(crate) fn look(world: &mut Hosts, host: usize) {
    let Some(drive) = &world.hosts[host].hands.drive else {
        return;
    };
    let epoch = drive.epoch;
    let Some(machine) = &drive.machine else {
        return begin(world, host, epoch);
    };
    match machine.action() {
        RunAction::Continue => {
            let (at, ledger) = (world.at(), world.store.ledger());
            facts::apply(world, host, RunFact::Started { at, ledger });
        }
        RunAction::StartSession(plan) => sessions::start_session(world, host, epoch, &plan),
        RunAction::Wait { until, .. } if until <= world.at() => {
            let (at, ledger) = (world.at(), Ok(world.store.ledger()));
            facts::tell(world, host, &RunFact::WaitOver { at, ledger });
        }
        RunAction::Wait { .. } | RunAction::Hold => {}
        RunAction::StopSession => sessions::stop_session(world, host, epoch),
        RunAction::Finish { exit } => {
            let report = machine.report(&Script::run(), exit, world.at());
            let _ = world.store.append(epoch, JournalLine::RunEnded { report });
            world.store.free_lock(epoch);
            world.hosts[host].hands.drive = None;
        }
    }
}

/// Reads the journal and goes on with the run, or starts it.
fn begin(world: &mut Hosts, host: usize, epoch: Epoch) {
    // While it slept between the lock and the journal, others may have come to the end.
    if world.store.ended.is_some() {
        return world.hosts[host].hands.give_up(epoch);
    }
    let machine = replay(world);
    let line = match machine {
        None => JournalLine::RunStarted {
            limits: Script::limits(),
            epoch,
        },
        Some(_) => JournalLine::RunResumed { epoch },
    };
    let machine = machine.unwrap_or_else(|| RunMachine::new(Script::limits()));
    let under_way = match machine.action() {
        RunAction::StartSession(plan) => Some(plan.number),
        RunAction::StopSession => Some(sessions::last(&machine)),
        _ => None,
    };
    if world.store.append(epoch, line) == Err(Fenced) {
        return world.hosts[host].hands.give_up(epoch);
    }
    if let Some(drive) = &mut world.hosts[host].hands.drive {
        drive.machine = Some(machine);
    }
    // Somebody may start it again with other words; none of these limits is ever reached.
    if world.random.happens(50) {
        change_limits(world, host);
    }
    match under_way {
        Some(number) if world.store.outcome(number).is_none() => {
            world.tally.lost += 1;
            facts::apply(world, host, RunFact::SessionLost { number });
        }
        _ => {
            let life = world.hosts[host].life;
            world.soon(host, 500, Event::Look { life });
        }
    }
}

fn change_limits(world: &mut Hosts, host: usize) {
    let limits = GivenLimits {
        max_iterations: Some(u32::try_from(world.random.between(1000, 2000)).expect("small")),
        pause: Some(Duration::from_millis(world.random.between(0, 6000))),
        ..GivenLimits::default()
    };
    let (at, ledger) = (world.at(), world.store.ledger());
    world.tally.limits_changed += 1;
    facts::apply(world, host, RunFact::LimitsChanged { at, limits, ledger });
}

fn replay(world: &mut Hosts) -> Option<RunMachine> {
    let lines = &world.store.journal;
    let recorded = RecordedRun::replay(Script::run(), lines);
    let mut machine = None;
    for line in lines {
        match (line, &mut machine) {
            (JournalLine::RunStarted { limits, .. }, None) => {
                machine = Some(RunMachine::new(limits.clone()));
            }
            (JournalLine::Fact { fact, action }, Some(machine)) => {
                world.driver.diverged |= machine.apply(fact.clone()) != *action;
            }
            _ => {}
        }
    }
    let under_way = machine.as_ref().map(RunMachine::action);
    world.driver.diverged |= recorded.map(|recorded| recorded.under_way()) != under_way;
    machine
}
