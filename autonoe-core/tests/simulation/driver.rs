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
pub(crate) fn heartbeat(simulation: &mut Hosts, host: usize) {
    let until = simulation.now + LEASE;
    let it = &mut simulation.hosts[host];
    match &it.state.drive {
        Some(drive) => {
            let epoch = drive.epoch;
            if simulation.store.renew_lock(epoch, until).is_err() {
                return it.state.give_up(epoch);
            }
            perform_pending(simulation, host);
        }
        None => {
            if let Some(epoch) = simulation.store.take_over(simulation.now, until) {
                simulation.tally.takeovers += 1;
                it.state.drive = Some(Drive::new(epoch));
                let life = it.life;
                simulation.plan_within(host, 1500, Event::Check { life });
            }
        }
    }
}

/// Performs the machine's action, unless it is in progress.
pub(crate) fn perform_pending(simulation: &mut Hosts, host: usize) {
    let Some(drive) = &simulation.hosts[host].state.drive else {
        return;
    };
    let epoch = drive.epoch;
    let Some(machine) = &drive.machine else {
        return begin(simulation, host, epoch);
    };
    match machine.action() {
        RunAction::Continue => {
            let (at, ledger) = (simulation.at(), simulation.store.ledger());
            facts::apply(simulation, host, RunFact::Started { at, ledger });
        }
        RunAction::StartSession(plan) => sessions::start_session(simulation, host, epoch, &plan),
        RunAction::Wait { until, .. } if until <= simulation.at() => {
            let (at, ledger) = (simulation.at(), Ok(simulation.store.ledger()));
            facts::send(simulation, host, &RunFact::WaitOver { at, ledger });
        }
        RunAction::Wait { .. } | RunAction::Hold => {}
        RunAction::StopSession => sessions::stop_session(simulation, host, epoch),
        RunAction::Finish { exit } => {
            let report = machine.report(&SimulatedWork::run(), exit, simulation.at());
            let _ = simulation
                .store
                .append(epoch, JournalLine::RunEnded { report });
            simulation.store.release_lock(epoch);
            simulation.hosts[host].state.drive = None;
        }
    }
}

/// Replays the journal and resumes the run, or starts it.
fn begin(simulation: &mut Hosts, host: usize, epoch: Epoch) {
    // While the host slept between the lock and the journal, other hosts may have ended the run.
    if simulation.store.ended.is_some() {
        return simulation.hosts[host].state.give_up(epoch);
    }
    let machine = replay(simulation);
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
    if simulation.store.append(epoch, line) == Err(Fenced) {
        return simulation.hosts[host].state.give_up(epoch);
    }
    if let Some(drive) = &mut simulation.hosts[host].state.drive {
        drive.machine = Some(machine);
    }
    // The run may be resumed with other limits; none of these limits is ever reached.
    if simulation.random.chance(50) {
        change_limits(simulation, host);
    }
    match under_way {
        Some(number) if simulation.store.outcome(number).is_none() => {
            simulation.tally.lost += 1;
            facts::apply(simulation, host, RunFact::SessionLost { number });
        }
        _ => {
            let life = simulation.hosts[host].life;
            simulation.plan_within(host, 500, Event::Check { life });
        }
    }
}

fn change_limits(simulation: &mut Hosts, host: usize) {
    let limits = LimitOverrides {
        max_iterations: Some(u32::try_from(simulation.random.between(1000, 2000)).expect("small")),
        pause: Some(Duration::from_millis(simulation.random.between(0, 6000))),
        ..LimitOverrides::default()
    };
    let (at, ledger) = (simulation.at(), simulation.store.ledger());
    simulation.tally.limits_changed += 1;
    facts::apply(
        simulation,
        host,
        RunFact::LimitsChanged { at, limits, ledger },
    );
}

fn replay(simulation: &mut Hosts) -> Option<RunMachine> {
    let lines = &simulation.store.journal;
    let recorded = RecordedRun::replay(SimulatedWork::run(), lines);
    let mut machine = None;
    for line in lines {
        match (line, &mut machine) {
            (JournalLine::RunStarted { limits, .. }, None) => {
                machine = Some(RunMachine::new(limits.clone()));
            }
            (JournalLine::Fact { fact, action }, Some(machine)) => {
                simulation.driver.diverged |= machine.apply(fact.clone()) != *action;
            }
            _ => {}
        }
    }
    let under_way = machine.as_ref().map(RunMachine::action);
    simulation.driver.diverged |=
        recorded.map(|recorded| recorded.interrupted_action()) != under_way;
    machine
}
