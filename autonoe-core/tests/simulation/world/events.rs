//! What happens to a host: its own steps, and what goes wrong.

use autonoe_core::{Epoch, RunFact};

use super::World;

/// Something that happens to a host.
#[derive(Debug)]
pub(super) enum Event {
    /// It looks what there is to do, again and again.
    Beat {
        life: u32,
    },
    /// It looks what there is to do, once.
    Look {
        life: u32,
    },
    /// An agent is done; what it did is yet to be written.
    SessionOver {
        life: u32,
        epoch: Epoch,
        number: u32,
    },
    /// It is told a fact, late or twice perhaps, and perhaps one of another host.
    Told {
        fact: Box<RunFact>,
    },
    Crash,
    Restart,
    Sleep,
    CutOff,
}

impl World {
    /// Lets `event` happen to `host`, as far as it is there to see it.
    pub(super) fn happen(&mut self, host: usize, event: Event) {
        let it = &mut self.hosts[host];
        let alive = match &event {
            Event::Beat { life } | Event::Look { life } => it.lives(*life),
            Event::SessionOver { life, .. } => it.agent_lives(*life),
            Event::Told { .. } => !it.down,
            Event::Crash => return self.crash(host),
            Event::Restart => {
                it.down = false;
                let life = it.life;
                return self.soon(host, 2000, Event::Beat { life });
            }
            Event::Sleep => {
                it.asleep_until = self.now + self.random.between(1000, 60_000);
                return;
            }
            Event::CutOff => {
                it.cut_off_until = self.now + self.random.between(1000, 60_000);
                return;
            }
        };
        if !alive {
            return;
        }
        // Whatever comes while it sleeps comes when it wakes, in any order.
        if self.now < it.asleep_until {
            let at = it.asleep_until + self.random.between(0, 500);
            return self.plan(at, host, event);
        }
        let cut_off = self.now < it.cut_off_until;
        match event {
            Event::Beat { life } => {
                if !cut_off {
                    self.beat(host);
                }
                if self.store.ended.is_none() || cut_off {
                    let at = self.now + self.random.between(2000, 6000);
                    self.plan(at, host, Event::Beat { life });
                }
            }
            event if cut_off => {
                let at = self.now + self.random.between(1000, 8000);
                self.plan(at, host, event);
            }
            Event::SessionOver { epoch, number, .. } => self.session_over(host, epoch, number),
            Event::Told { fact } => self.apply(host, *fact),
            _ => self.look(host),
        }
    }

    fn crash(&mut self, host: usize) {
        let it = &mut self.hosts[host];
        if it.down {
            return;
        }
        let drive = it.drive.take();
        // The agent may live on. Then it keeps the lock, until the lease is over.
        it.orphan = self.random.next().is_multiple_of(3).then_some(it.life);
        if let (Some(drive), None) = (drive, it.orphan) {
            self.store.free_lock(drive.epoch);
        }
        it.life += 1;
        it.down = true;
        let at = self.now + self.random.between(500, 40_000);
        self.plan(at, host, Event::Restart);
    }
}
