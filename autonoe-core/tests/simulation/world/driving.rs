//! How a host drives the run: it takes over, reads the journal and does what the machine asks for.

use std::time::Duration;

use autonoe_core::{Epoch, GivenLimits, JournalLine, RecordedRun, RunAction, RunFact, RunMachine};

use super::World;
use super::events::Event;
use crate::host::Drive;
use crate::script::{Script, run};
use crate::store::Fenced;

/// How long a lock is kept without a beat.
const LEASE: u64 = 12_000;

impl World {
    /// Keeps the lock and looks what there is to do, or tries to take over.
    pub(super) fn beat(&mut self, host: usize) {
        let until = self.now + LEASE;
        let it = &mut self.hosts[host];
        match &it.drive {
            Some(drive) => {
                let epoch = drive.epoch;
                if self.store.keep_lock(epoch, until).is_err() {
                    return it.give_up(epoch);
                }
                self.look(host);
            }
            None => {
                if let Some(epoch) = self.store.take_over(self.now, until) {
                    self.tally.takeovers += 1;
                    it.drive = Some(Drive::new(epoch));
                    let life = it.life;
                    self.soon(host, 1500, Event::Look { life });
                }
            }
        }
    }

    /// Does what the machine asks for, as far as it is not under way.
    pub(super) fn look(&mut self, host: usize) {
        let Some(drive) = &self.hosts[host].drive else {
            return;
        };
        let epoch = drive.epoch;
        let Some(machine) = &drive.machine else {
            return self.begin(host, epoch);
        };
        match machine.action() {
            RunAction::Continue => {
                let (at, ledger) = (self.at(), self.store.ledger());
                self.apply(host, RunFact::Started { at, ledger });
            }
            RunAction::StartSession(plan) => self.start_session(host, epoch, &plan),
            RunAction::Wait { until, .. } if until <= self.at() => {
                let (at, ledger) = (self.at(), Ok(self.store.ledger()));
                self.tell(host, &RunFact::WaitOver { at, ledger });
            }
            RunAction::Wait { .. } => {}
            RunAction::Finish { exit } => {
                let report = machine.report(&run(), exit, self.at());
                let _ = self.store.append(epoch, JournalLine::RunEnded { report });
                self.store.free_lock(epoch);
                self.hosts[host].drive = None;
            }
            other => panic!("nobody asked for {other:?}"),
        }
    }

    /// Reads the journal and goes on with the run, or starts it.
    fn begin(&mut self, host: usize, epoch: Epoch) {
        // While it slept between the lock and the journal, others may have come to the end.
        if self.store.ended.is_some() {
            return self.hosts[host].give_up(epoch);
        }
        let machine = self.replay();
        let line = match machine {
            None => JournalLine::RunStarted {
                limits: Script::limits(),
                epoch,
            },
            Some(_) => JournalLine::RunResumed { epoch },
        };
        let machine = machine.unwrap_or_else(|| RunMachine::new(Script::limits()));
        let under_way = machine.action();
        if self.store.append(epoch, line) == Err(Fenced) {
            return self.hosts[host].give_up(epoch);
        }
        if let Some(drive) = &mut self.hosts[host].drive {
            drive.machine = Some(machine);
        }
        // Somebody may start it again with other words; none of these limits is ever reached.
        if self.random.happens(50) {
            self.change_limits(host);
        }
        match under_way {
            RunAction::StartSession(plan) if self.store.outcome(plan.number).is_none() => {
                self.tally.lost += 1;
                let number = plan.number;
                self.apply(host, RunFact::SessionLost { number });
            }
            _ => {
                let life = self.hosts[host].life;
                self.soon(host, 500, Event::Look { life });
            }
        }
    }

    fn change_limits(&mut self, host: usize) {
        let limits = GivenLimits {
            max_iterations: Some(u32::try_from(self.random.between(1000, 2000)).expect("small")),
            pause: Some(Duration::from_millis(self.random.between(0, 6000))),
            ..GivenLimits::default()
        };
        let (at, ledger) = (self.at(), self.store.ledger());
        self.tally.limits_changed += 1;
        self.apply(host, RunFact::LimitsChanged { at, limits, ledger });
    }

    fn replay(&mut self) -> Option<RunMachine> {
        let lines = &self.store.journal;
        let recorded = RecordedRun::replay(run(), lines);
        let mut machine = None;
        for line in lines {
            match (line, &mut machine) {
                (JournalLine::RunStarted { limits, .. }, None) => {
                    machine = Some(RunMachine::new(limits.clone()));
                }
                (JournalLine::Fact { fact, action }, Some(machine)) => {
                    self.diverged |= machine.apply(fact.clone()) != *action;
                }
                _ => {}
            }
        }
        let under_way = machine.as_ref().map(RunMachine::action);
        self.diverged |= recorded.map(|recorded| recorded.under_way()) != under_way;
        machine
    }
}
