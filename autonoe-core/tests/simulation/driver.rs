//! Driver of a simulated host: takes over, replays the journal and performs the machine's actions.

use std::time::Duration;

use autonoe_core::run::{JournalLine, LimitOverrides, RecordedRun, RunAction, RunFact, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::{Fenced, SimulatedWork};

use crate::simulation::local::{Drive, Event, Hosts};
use crate::simulation::{facts, sessions};

/// The duration of a lock without a heartbeat.
const LEASE: u64 = 12_000;

/// Renews the lock and performs pending actions, or tries to take over.
pub(crate) fn heartbeat(world: &mut Hosts, host: usize) {
    let until = world.now + LEASE;
    let it = &mut world.hosts[host];
    match &it.state.drive {
        Some(drive) => {
            let epoch = drive.epoch;
            if world.store.renew_lock(epoch, until).is_err() {
                return it.state.give_up(epoch);
            }
            perform_pending(world, host);
        }
        None => {
            if let Some(epoch) = world.store.take_over(world.now, until) {
                world.tally.takeovers += 1;
                it.state.drive = Some(Drive::new(epoch));
                let life = it.life;
                world.plan_within(host, 1500, Event::Check { life });
            }
        }
    }
}

/// Performs the machine's action, unless it is in progress.
pub(crate) fn perform_pending(world: &mut Hosts, host: usize) {
    let Some(drive) = &world.hosts[host].state.drive else {
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
            facts::send(world, host, &RunFact::WaitOver { at, ledger });
        }
        RunAction::Wait { .. } | RunAction::Hold => {}
        RunAction::StopSession => sessions::stop_session(world, host, epoch),
        RunAction::Finish { exit } => {
            let report = machine.report(&SimulatedWork::run(), exit, world.at());
            let _ = world.store.append(epoch, JournalLine::RunEnded { report });
            world.store.release_lock(epoch);
            world.hosts[host].state.drive = None;
        }
    }
}

/// Replays the journal and resumes the run, or starts it.
fn begin(world: &mut Hosts, host: usize, epoch: Epoch) {
    // While the host slept between the lock and the journal, other hosts may have ended the run.
    if world.store.ended.is_some() {
        return world.hosts[host].state.give_up(epoch);
    }
    let machine = replay(world);
    let line = match machine {
        None => JournalLine::RunStarted {
            limits: SimulatedWork::limits(),
            epoch,
        },
        Some(_) => JournalLine::RunResumed { epoch },
    };
    let machine = machine.unwrap_or_else(|| RunMachine::new(SimulatedWork::limits()));
    let under_way = match machine.action() {
        RunAction::StartSession(plan) => Some(plan.number),
        RunAction::StopSession => Some(sessions::last(&machine)),
        _ => None,
    };
    if world.store.append(epoch, line) == Err(Fenced) {
        return world.hosts[host].state.give_up(epoch);
    }
    if let Some(drive) = &mut world.hosts[host].state.drive {
        drive.machine = Some(machine);
    }
    // The run may be resumed with other limits; none of these limits is ever reached.
    if world.random.chance(50) {
        change_limits(world, host);
    }
    match under_way {
        Some(number) if world.store.outcome(number).is_none() => {
            world.tally.lost += 1;
            facts::apply(world, host, RunFact::SessionLost { number });
        }
        _ => {
            let life = world.hosts[host].life;
            world.plan_within(host, 500, Event::Check { life });
        }
    }
}

fn change_limits(world: &mut Hosts, host: usize) {
    let limits = LimitOverrides {
        max_iterations: Some(u32::try_from(world.random.between(1000, 2000)).expect("small")),
        pause: Some(Duration::from_millis(world.random.between(0, 6000))),
        ..LimitOverrides::default()
    };
    let (at, ledger) = (world.at(), world.store.ledger());
    world.tally.limits_changed += 1;
    facts::apply(world, host, RunFact::LimitsChanged { at, limits, ledger });
}

fn replay(world: &mut Hosts) -> Option<RunMachine> {
    let lines = &world.store.journal;
    let recorded = RecordedRun::replay(SimulatedWork::run(), lines);
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
    world.driver.diverged |= recorded.map(|recorded| recorded.interrupted_action()) != under_way;
    machine
}
