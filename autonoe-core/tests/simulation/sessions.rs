//! The sessions of a run: started once, and written down before they are reported.

use autonoe_core::{Epoch, RunFact, SessionPlan};
use autonoe_testkit::simulation::Fenced;

use crate::facts;
use crate::local::{Event, Hosts, Session};

/// Starts the session of `plan`, unless it is under way or over.
pub(crate) fn start_session(world: &mut Hosts, host: usize, epoch: Epoch, plan: &SessionPlan) {
    let planned = plan.number;
    let it = &mut world.hosts[host];
    let Some(drive) = &mut it.hands.drive else {
        return;
    };
    match &drive.session {
        Some(Session::Working { number }) if *number == planned => {}
        Some(Session::Over { number, ended }) if *number == planned => {
            let ended = ended.clone();
            facts::tell(world, host, &ended);
        }
        _ => match world.store.outcome(planned).cloned() {
            Some(ended) => {
                world.tally.records_used += 1;
                facts::tell(world, host, &ended);
            }
            None => {
                drive.session = Some(Session::Working { number: planned });
                let over = Event::SessionOver {
                    life: it.life,
                    epoch,
                    number: planned,
                };
                let at = world.now + world.script.takes(planned);
                world.plan(at, host, over);
            }
        },
    }
}

/// Writes what a session did, through the fence, and reports it after that.
pub(crate) fn session_over(world: &mut Hosts, host: usize, epoch: Epoch, number: u32) {
    let at = world.at();
    let (result, ledger) = world.script.perform(number, at, world.store.ledger());
    let ended = RunFact::SessionEnded {
        at,
        number,
        result,
        ledger: Ok(ledger),
    };
    let written = world.store.end_session(epoch, number, ledger, &ended);
    let it = &mut world.hosts[host];
    if written == Err(Fenced) {
        return it.hands.give_up(epoch);
    }
    if let Some(drive) = it.hands.drive.as_mut().filter(|drive| drive.epoch == epoch) {
        let ended = Box::new(ended.clone());
        drive.session = Some(Session::Over { number, ended });
    }
    facts::tell(world, host, &ended);
}
