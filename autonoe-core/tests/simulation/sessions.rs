//! Sessions of a simulated run: started once, and recorded before they are reported.

use autonoe_core::ExitReason;
use autonoe_core::agent::{SessionEnd, SessionReport};
use autonoe_core::run::{RunFact, RunMachine, SessionPlan};
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::{Fenced, SimulatedWork};
use jiff::Timestamp;

use crate::simulation::facts;
use crate::simulation::local::{Event, Hosts, Session};

/// Starts the session of `plan`, unless it is running or over.
pub(crate) fn start_session(simulation: &mut Hosts, host: usize, epoch: Epoch, plan: &SessionPlan) {
    let planned = plan.number;
    let it = &mut simulation.hosts[host];
    let Some(drive) = &mut it.state.drive else {
        return;
    };
    match &drive.session {
        Some(Session::Working { number }) if *number == planned => {}
        Some(Session::Over { number, ended }) if *number == planned => {
            let ended = ended.clone();
            facts::send(simulation, host, &ended);
        }
        _ => match simulation.store.outcome(planned).cloned() {
            Some(ended) => {
                simulation.tally.records_used += 1;
                facts::send(simulation, host, &ended);
            }
            None => {
                // An overtaken host may not know of the cancellation, and cannot write.
                if simulation.cancelled && epoch.next() == Some(simulation.store.next_epoch()) {
                    simulation.driver.started_after_cancel = Some(planned);
                }
                drive.session = Some(Session::Working { number: planned });
                let over = Event::SessionOver {
                    life: it.life,
                    epoch,
                    number: planned,
                };
                let at = simulation.now + simulation.work.duration(planned);
                simulation.plan(at, host, over);
            }
        },
    }
}

/// Writes the effect of a session, through the fence, and then reports it.
pub(crate) fn session_over(simulation: &mut Hosts, host: usize, epoch: Epoch, number: u32) {
    if simulation.driver.stopped.contains(&(epoch, number)) {
        return;
    }
    let at = simulation.at();
    let (result, ledger) = simulation
        .work
        .perform(number, at, simulation.store.ledger());
    let ended = RunFact::SessionEnded {
        at,
        number,
        result,
        ledger: Ok(ledger),
    };
    over(simulation, host, epoch, &ended);
}

/// Ends the running session because the run is cancelled, unless it is over.
pub(crate) fn stop_session(simulation: &mut Hosts, host: usize, epoch: Epoch) {
    let drive = simulation.hosts[host].state.drive.as_ref();
    let Some(machine) = drive.and_then(|drive| drive.machine.as_ref()) else {
        return;
    };
    let planned = last(machine);
    let known = match drive.and_then(|drive| drive.session.as_ref()) {
        Some(Session::Over { number, ended }) if *number == planned => Some(RunFact::clone(ended)),
        _ => simulation.store.outcome(planned).cloned(),
    };
    if let Some(ended) = known {
        return facts::send(simulation, host, &ended);
    }
    let number = planned;
    simulation.driver.stopped.insert((epoch, number));
    let ended = RunFact::SessionEnded {
        at: simulation.at(),
        number,
        result: SessionReport::new(SessionEnd::Cancelled),
        ledger: Ok(simulation.store.ledger()),
    };
    over(simulation, host, epoch, &ended);
}

/// Returns the number of the last requested session.
pub(crate) fn last(machine: &RunMachine) -> u32 {
    let report = machine.report(
        &SimulatedWork::run(),
        ExitReason::Interrupted,
        Timestamp::UNIX_EPOCH,
    );
    report.sessions
}

/// Writes the end of a session, through the fence, and then reports it.
fn over(simulation: &mut Hosts, host: usize, epoch: Epoch, ended: &RunFact) {
    let RunFact::SessionEnded {
        number,
        ledger: Ok(ledger),
        ..
    } = ended
    else {
        panic!("{ended:?} is no outcome");
    };
    let written = simulation.store.end_session(epoch, *number, *ledger, ended);
    let it = &mut simulation.hosts[host];
    if written == Err(Fenced) {
        return it.state.give_up(epoch);
    }
    if let Some(drive) = it.state.drive.as_mut().filter(|drive| drive.epoch == epoch) {
        drive.session = Some(Session::Over {
            number: *number,
            ended: Box::new(ended.clone()),
        });
    }
    facts::send(simulation, host, ended);
}
