//! Facts on their way to a host, and what its machine makes of them.

use autonoe_core::{JournalLine, RunAction, RunFact};

use super::events::Event;
use super::{HOSTS, World};
use crate::store::Fenced;

impl World {
    /// Sends a fact on its way. It may come late, twice, not at all, or to another host as well.
    pub(super) fn tell(&mut self, host: usize, fact: &RunFact) {
        let copies = self.random.between(1, 4) / 4 + 1;
        self.tally.duplicates += copies - 1;
        for _ in 0..copies {
            if self.random.happens(5) {
                continue;
            }
            let stray = self.random.happens(20);
            let to = if stray { (host + 1) % HOSTS } else { host };
            self.soon(
                to,
                6000,
                Event::Told {
                    fact: Box::new(fact.clone()),
                },
            );
        }
    }

    /// Tells the machine of a host a fact and writes down what it decides.
    pub(super) fn apply(&mut self, host: usize, fact: RunFact) {
        let it = &mut self.hosts[host];
        let Some(drive) = &mut it.drive else {
            return;
        };
        let (epoch, Some(machine)) = (drive.epoch, &mut drive.machine) else {
            return;
        };
        let action = machine.apply(fact.clone());
        let fits = action != RunAction::Continue;
        if self.store.append(epoch, JournalLine::Fact { fact, action }) == Err(Fenced) {
            return it.give_up(epoch);
        }
        if fits {
            let life = it.life;
            self.soon(host, 500, Event::Look { life });
        }
    }
}
