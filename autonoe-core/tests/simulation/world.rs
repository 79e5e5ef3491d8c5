//! Several hosts, one project and everything that can go wrong between them.

use std::collections::BTreeMap;

use autonoe_core::{Epoch, JournalLine, RecordedRun, RunAction, RunFact, RunMachine, SessionPlan};
use jiff::Timestamp;

use crate::host::{Drive, Host, Session};
use crate::random::Random;
use crate::script::{Script, counts, run};
use crate::store::{Fenced, Rules, Store};

const HOSTS: usize = 3;

// All times are in milliseconds.
const LEASE: u64 = 12_000;
const FAULTS_END: u64 = 150_000;
const GIVE_UP: u64 = FAULTS_END + 3_600_000;

/// Something that happens to a host.
#[derive(Debug)]
enum Event {
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

/// What must never be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A session took effect more than once.
    Repeated { number: u32 },
    /// A session that the run counts took no effect.
    Missing { number: u32 },
    /// The run does not end although nothing hinders it any more.
    NoEnd,
    /// The run comes to something else than one without faults.
    OtherCounts { found: String, expected: String },
    /// The unknown costs are not those of the sessions that were lost.
    OtherUnknownCosts { found: u32, lost: usize },
    /// The journal does not give the decisions again that it holds.
    Diverged,
}

/// What happened in a simulation that went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) takeovers: u64,
    pub(crate) refused: u64,
    pub(crate) records_used: u64,
    pub(crate) lost: u64,
    pub(crate) duplicates: u64,
    pub(crate) ended_at: u64,
}

/// Plays the schedule of `seed` to its end.
pub(crate) fn simulate(seed: u64, rules: Rules) -> Result<Tally, Violation> {
    let mut world = World::new(seed, rules);
    while let Some(((now, _), (host, event))) = world.events.pop_first() {
        if now > GIVE_UP {
            break;
        }
        world.now = now;
        world.happen(host, event);
    }
    world.verdict()
}

struct World {
    now: u64,
    random: Random,
    script: Script,
    store: Store,
    hosts: [Host; HOSTS],
    /// What is to come, by time and then in the order in which it was planned.
    events: BTreeMap<(u64, u64), (usize, Event)>,
    planned: u64,
    diverged: bool,
    tally: Tally,
}

impl World {
    fn new(seed: u64, rules: Rules) -> Self {
        let mut world = Self {
            now: 0,
            random: Random::new(seed),
            script: Script::new(seed),
            store: Store::new(rules),
            hosts: Default::default(),
            events: BTreeMap::new(),
            planned: 0,
            diverged: false,
            tally: Tally::default(),
        };
        for host in 0..HOSTS {
            world.soon(host, 3000, Event::Beat { life: 0 });
            let mut at = world.random.between(0, 30_000);
            while at < FAULTS_END {
                let fault = match world.random.next() % 3 {
                    0 => Event::Crash,
                    1 => Event::Sleep,
                    _ => Event::CutOff,
                };
                world.plan(at, host, fault);
                at += world.random.between(5000, 60_000);
            }
        }
        world
    }

    fn plan(&mut self, at: u64, host: usize, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), (host, event));
    }

    /// Plans `event` within the next `within` milliseconds.
    fn soon(&mut self, host: usize, within: u64, event: Event) {
        let at = self.now + self.random.between(0, within);
        self.plan(at, host, event);
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millisecond(i64::try_from(self.now).expect("small")).expect("in range")
    }

    fn happen(&mut self, host: usize, event: Event) {
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

    fn beat(&mut self, host: usize) {
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
    fn look(&mut self, host: usize) {
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

    fn start_session(&mut self, host: usize, epoch: Epoch, plan: &SessionPlan) {
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
    fn session_over(&mut self, host: usize, epoch: Epoch, number: u32) {
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

    /// Sends a fact on its way. It may come late, twice, not at all, or to another host as well.
    fn tell(&mut self, host: usize, fact: &RunFact) {
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
    fn apply(&mut self, host: usize, fact: RunFact) {
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

    fn verdict(self) -> Result<Tally, Violation> {
        let Store {
            effects,
            journal,
            ended,
            refused,
            ..
        } = self.store;
        let times = |number| effects.iter().filter(|done| **done == number).count();
        if let Some(number) = effects.iter().copied().find(|number| times(*number) > 1) {
            return Err(Violation::Repeated { number });
        }
        let report = ended.ok_or(Violation::NoEnd)?;
        if let Some(number) = (1..=report.sessions).find(|number| times(*number) == 0) {
            return Err(Violation::Missing { number });
        }
        let undisturbed = self.script.undisturbed();
        if counts(&report) != counts(&undisturbed) {
            return Err(Violation::OtherCounts {
                found: format!("{report:?}"),
                expected: format!("{undisturbed:?}"),
            });
        }
        let is_lost = |line: &&JournalLine| {
            let JournalLine::Fact { fact, .. } = line else {
                return false;
            };
            matches!(fact, RunFact::SessionLost { .. })
        };
        let lost = journal.iter().filter(is_lost).count();
        if usize::try_from(report.cost.unknown_parts) != Ok(lost) {
            let found = report.cost.unknown_parts;
            return Err(Violation::OtherUnknownCosts { found, lost });
        }
        if self.diverged {
            return Err(Violation::Diverged);
        }
        Ok(Tally {
            refused,
            ended_at: self.now,
            ..self.tally
        })
    }
}
