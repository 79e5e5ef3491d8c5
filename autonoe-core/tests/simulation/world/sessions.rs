//! The sessions of a run: started once, and written down before they are reported.

use autonoe_core::{Epoch, RunFact, SessionPlan};

use super::World;
use super::events::Event;
use crate::host::Session;
use crate::store::Fenced;

impl World {
    /// Starts the session of `plan`, unless it is under way or over.
    pub(super) fn start_session(&mut self, host: usize, epoch: Epoch, plan: &SessionPlan) {
        let planned = plan.number;
        let it = &mut self.hosts[host];
        let Some(drive) = &mut it.drive else {
            return;
        };
        match &drive.session {
            Some(Session::Working { number }) if *number == planned => {}
            Some(Session::Over { number, ended }) if *number == planned => {
                let ended = ended.clone();
                self.tell(host, &ended);
            }
            _ => match self.store.outcome(planned).cloned() {
                Some(ended) => {
                    self.tally.records_used += 1;
                    self.tell(host, &ended);
                }
                None => {
                    drive.session = Some(Session::Working { number: planned });
                    let over = Event::SessionOver {
                        life: it.life,
                        epoch,
                        number: planned,
                    };
                    let at = self.now + self.script.takes(planned);
                    self.plan(at, host, over);
                }
            },
        }
    }

    /// Writes what a session did, through the fence, and reports it after that.
    pub(super) fn session_over(&mut self, host: usize, epoch: Epoch, number: u32) {
        let at = self.at();
        let (result, ledger) = self.script.perform(number, at, self.store.ledger());
        let ended = RunFact::SessionEnded {
            at,
            number,
            result,
            ledger: Ok(ledger),
        };
        let written = self.store.end_session(epoch, number, ledger, &ended);
        let it = &mut self.hosts[host];
        if written == Err(Fenced) {
            return it.give_up(epoch);
        }
        if let Some(drive) = it.drive.as_mut().filter(|drive| drive.epoch == epoch) {
            let ended = Box::new(ended.clone());
            drive.session = Some(Session::Over { number, ended });
        }
        self.tell(host, &ended);
    }
}
