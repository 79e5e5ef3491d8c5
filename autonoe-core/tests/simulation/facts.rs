//! Facts on their way to a host, and what its machine makes of them.

use autonoe_core::{ExitReason, JournalLine, RunAction, RunFact, SessionEnd};
use autonoe_testkit::simulation::{Fenced, HOSTS};

use crate::simulation::local::{Event, Hosts};

/// Sends a fact on its way. It may come late, twice, not at all, or to another host as well.
pub(crate) fn tell(world: &mut Hosts, host: usize, fact: &RunFact) {
    let copies = world.random.between(1, 4) / 4 + 1;
    world.tally.duplicates += copies - 1;
    for _ in 0..copies {
        if world.random.happens(5) {
            continue;
        }
        let stray = world.random.happens(20);
        let to = if stray { (host + 1) % HOSTS } else { host };
        world.soon(
            to,
            6000,
            Event::Told {
                fact: Box::new(fact.clone()),
            },
        );
    }
}

/// Tells the machine of a host a fact and writes down what it decides.
pub(crate) fn apply(world: &mut Hosts, host: usize, fact: RunFact) {
    let it = &mut world.hosts[host];
    let Some(drive) = &mut it.hands.drive else {
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
    if world.store.append(epoch, line) == Err(Fenced) {
        return it.hands.give_up(epoch);
    }
    match fact {
        RunFact::Cancelled => world.cancelled = is_cancelled,
        // Whoever wanted it stopped has got that.
        RunFact::SessionLost { .. } => world.cancelled = false,
        RunFact::SessionEnded { number, result, .. } if result.end != SessionEnd::Cancelled => {
            world.told.insert(number);
        }
        _ => {}
    }
    if fits {
        let life = it.life;
        world.soon(host, 500, Event::Look { life });
    }
}
