//! A server with its workers, as what decides in a simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_core::{Epoch, RunInstruction, RunReport};
use autonoe_testkit::simulation::{
    Driver, FAULTS_END, HOSTS, Host, Random, Rules, Script, Store, Tally, Violation, World,
};

use super::super::super::super::calls::{EndCall, SessionCall};
use super::super::super::Came;
use super::history::History;
use super::{server, workers};
use crate::Pace;

/// The world of a run on a cluster.
pub(super) type Hosts = World<Cluster>;

/// The server, and what it knows of the run.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) history: History,
    /// What a worker is to do, or does.
    pub(super) activity: Option<Activity>,
    /// The timer that runs.
    pub(super) timer: Option<u64>,
    /// Counts activities and timers.
    pub(super) ids: u64,
    /// When the server is away.
    pub(super) outages: Vec<(u64, u64)>,
    /// The epoch and the host of the last session.
    pub(super) last: Option<(Epoch, String)>,
    pub(super) violation: Option<Violation>,
    pub(super) said: Vec<String>,
    pub(super) heard: BTreeSet<String>,
    pub(super) losses: Losses,
    /// The ends that hosts were to write down.
    pub(super) asked: Vec<RunReport>,
    /// The ends that are written down.
    pub(super) ends: Vec<RunReport>,
    pub(super) counted: Counted,
}

/// How often sessions began and left no end, as an observer sees it.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// How often each session began.
    pub(super) begun: BTreeMap<u32, u32>,
    /// Whether the session under way was lost on the host that it is on.
    pub(super) is_lost_here: bool,
    /// How many hosts are gone with it.
    pub(super) hosts: u32,
    /// Those of sessions that have ended.
    pub(super) counted: usize,
}

/// An activity that the server has given out, or has not yet.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    pub(super) id: u64,
    pub(super) attempt: u32,
    pub(super) what: What,
    /// The only host that may take it.
    pub(super) host: Option<usize>,
    pub(super) is_taken: bool,
    pub(super) heard_at: u64,
}

/// What a worker is to do.
#[derive(Clone, Debug)]
pub(super) enum What {
    Claim,
    Look,
    Session(Box<SessionCall>),
    Conclude(Box<EndCall>),
}

/// One attempt at an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) attempt: u32,
}

/// Something that happens to a worker or to the server.
#[derive(Debug)]
pub(super) enum Event {
    /// A worker asks for work, and says that it lives.
    Beat { life: u32 },
    /// A worker has been given a task.
    Given { life: u32, task: Task, what: What },
    /// An agent is done; what it did is yet to be written.
    SessionOver(Work),
    /// The server is told what came of a task.
    Done { task: Task, came: Box<Came> },
    /// The server looks whether a task was taken in time.
    Untaken(Task),
    /// The server looks whether a worker has been silent for too long.
    Silent(Task),
    /// The server looks whether a task has taken too long, with all its attempts.
    TooLong(u64),
    /// A timer is over.
    TimeIsUp(u64),
    /// A person tells the run something.
    Told(RunInstruction),
    /// A person cancels the run.
    Cancelled,
}

/// What a worker has in its hands.
#[derive(Debug, Default)]
pub(super) struct Hands {
    /// The session that it works on or waits for, as the server knows it.
    pub(super) task: Option<Task>,
    /// The agent that works in the project here, and keeps others of this host out.
    pub(super) work: Option<Work>,
}

/// A session at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) life: u32,
    pub(super) task: Task,
    pub(super) epoch: Epoch,
    pub(super) number: u32,
}

/// What happened that only a cluster knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) replays: u64,
    pub(super) begun_anew: u64,
    pub(super) hosts_gone: u64,
    pub(super) held: u64,
    /// What was told to a server that had given up waiting for it.
    pub(super) late: u64,
    /// The runs whose host has said that their end is written down.
    pub(super) concluded: u64,
    /// Those of them that were cancelled.
    pub(super) cancelled_and_concluded: u64,
    /// The runs whose host did not say so in time, or was overtaken.
    pub(super) unconcluded: u64,
    /// What a person said and no session was told.
    pub(super) unheard: Vec<String>,
    /// What is wrong with the ends that are written down.
    pub(super) wrong_ends: Vec<String>,
}

impl Counted {
    pub(super) fn add(&mut self, other: &Self) {
        self.replays += other.replays;
        self.begun_anew += other.begun_anew;
        self.hosts_gone += other.hosts_gone;
        self.held += other.held;
        self.late += other.late;
        self.concluded += other.concluded;
        self.cancelled_and_concluded += other.cancelled_and_concluded;
        self.unconcluded += other.unconcluded;
    }
}

/// Plays the schedule of `seed` on a cluster.
pub(super) fn simulate(seed: u64, rules: Rules) -> Result<(Tally, Counted), Violation> {
    // Another row of numbers than that of the world.
    let mut random = Random::new(!seed);
    let pace = Pace {
        host: Duration::from_secs(random.between(5, 15)),
        // Whether a run ends that never stops dying is another question.
        attempts: u32::MAX,
        sessions_in_history: u32::try_from(random.between(1, 4)).expect("small"),
        ..Pace::default()
    };
    let mut begin = super::super::begin(Script::limits(), pace);
    begin.run.id = Script::run();
    if random.happens(20) {
        begin.host_queue = Some(random.between(0, HOSTS as u64 - 1).to_string());
    }
    let cluster = Cluster {
        history: History::of(begin),
        activity: None,
        timer: None,
        ids: 0,
        outages: outages(&mut random),
        last: None,
        violation: None,
        said: Vec::new(),
        heard: BTreeSet::new(),
        losses: Losses::default(),
        asked: Vec::new(),
        ends: Vec::new(),
        counted: Counted::default(),
    };
    let played = autonoe_testkit::simulation::simulate(seed, rules, cluster, |world| {
        tell_things(world, &mut random);
        server::decide(world);
    });
    played.map(|(tally, cluster)| (tally, cluster.counted))
}

/// Chooses when the server is away.
fn outages(random: &mut Random) -> Vec<(u64, u64)> {
    let mut outages = Vec::new();
    let mut at = random.between(0, 40_000);
    while at < FAULTS_END {
        let until = at + random.between(1000, 30_000);
        outages.push((at, until));
        at = until + random.between(5000, 60_000);
    }
    outages
}

/// Plans what persons tell the run. Who pauses it resumes it; in some schedules it is cancelled.
fn tell_things(world: &mut Hosts, random: &mut Random) {
    for number in 0..random.between(0, 4) {
        let at = random.between(0, FAULTS_END);
        let say = RunInstruction::Say(format!("word {number}"));
        world.plan_elsewhere(at, Event::Told(say));
    }
    for _ in 0..random.between(0, 3) {
        let at = random.between(0, FAULTS_END);
        world.plan_elsewhere(at, Event::Told(RunInstruction::Pause));
        let at = at + random.between(1000, 40_000);
        world.plan_elsewhere(at, Event::Told(RunInstruction::Resume));
    }
    if random.happens(25) {
        let at = random.between(0, FAULTS_END);
        world.plan_elsewhere(at, Event::Cancelled);
    }
    // What is told to a server that is away may come in another order.
    let at = FAULTS_END + 60_000;
    world.plan_elsewhere(at, Event::Told(RunInstruction::Resume));
}

impl Driver for Cluster {
    type Event = Event;
    type Hands = Hands;

    fn first(life: u32) -> Event {
        Event::Beat { life }
    }

    fn sees(host: &Host<Hands>, event: &Event) -> bool {
        match event {
            Event::Beat { life } | Event::Given { life, .. } => host.lives(*life),
            Event::SessionOver(work) => host.agent_lives(work.life),
            other => unreachable!("{other:?} happens to the server"),
        }
    }

    fn needs_no_touch(event: &Event) -> bool {
        matches!(event, Event::Beat { .. })
    }

    fn happen(world: &mut Hosts, host: usize, event: Event) {
        match event {
            Event::Beat { life } => workers::beat(world, host, life),
            Event::Given { life, task, what } => workers::given(world, host, life, task, what),
            Event::SessionOver(work) => workers::session_over(world, host, work),
            other => unreachable!("{other:?} happens to the server"),
        }
    }

    fn happen_elsewhere(world: &mut Hosts, event: Event) {
        server::happen(world, event);
    }

    fn crash(hands: &mut Hands, orphan: Option<u32>, _store: &mut Store) {
        hands.task = None;
        // An agent that lives on keeps others out until its end.
        if hands.work.is_some_and(|work| Some(work.life) != orphan) {
            hands.work = None;
        }
    }

    fn lost(&self, _store: &Store) -> usize {
        self.losses.counted
    }

    fn violation(&self) -> Option<Violation> {
        self.violation.clone()
    }
}
