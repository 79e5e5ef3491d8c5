//! Delivery of facts to a simulated host and its machine.

use autonoe_core::ExitReason;
use autonoe_core::agent::SessionEnd;
use autonoe_core::run::{JournalLine, RunAction, RunFact};
use autonoe_testkit::simulation::{Fenced, HOSTS};

use crate::simulation::local::{Event, Hosts};

/// Sends a fact. It may arrive late, twice, not at all, or at another host as well.
pub(crate) fn send(simulation: &mut Hosts, host: usize, fact: &RunFact) {
    let copies = simulation.random.between(1, 4) / 4 + 1;
    simulation.tally.duplicates += copies - 1;
    for _ in 0..copies {
        if simulation.random.chance(5) {
            continue;
        }
        let stray = simulation.random.chance(20);
        let to = if stray { (host + 1) % HOSTS } else { host };
        simulation.plan_within(
            to,
            6000,
            Event::FactReceived {
                fact: Box::new(fact.clone()),
            },
        );
    }
}

/// Applies a fact to the machine of a host and records the decision.
pub(crate) fn apply(simulation: &mut Hosts, host: usize, fact: RunFact) {
    let it = &mut simulation.hosts[host];
    let Some(drive) = &mut it.state.drive else {
        return;
    };
    let (epoch, Some(machine)) = (drive.epoch, &mut drive.machine) else {
        return;
    };
    let action = machine.apply(fact.clone());
    let fits = action != RunAction::Continue;
    let is_cancelled = match &action {
        RunAction::StopSession => true,
        RunAction::Finish { exit } => *exit == ExitReason::Interrupted,
        _ => false,
    };
    let line = JournalLine::Fact {
        fact: fact.clone(),
        action,
    };
    if simulation.store.append(epoch, line) == Err(Fenced) {
        return it.state.give_up(epoch);
    }
    match fact {
        RunFact::Cancelled => simulation.cancelled = is_cancelled,
        // A pending cancellation is fulfilled: the session is gone.
        RunFact::SessionLost { .. } => simulation.cancelled = false,
        RunFact::SessionEnded { number, result, .. } if result.end != SessionEnd::Cancelled => {
            simulation.reported_ends.insert(number);
        }
        _ => {}
    }
    if fits {
        let life = it.life;
        simulation.plan_within(host, 500, Event::Check { life });
    }
}
