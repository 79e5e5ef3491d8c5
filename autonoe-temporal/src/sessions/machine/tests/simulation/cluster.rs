//! [`Cluster`]: a simulated server with its workers, as the driver of the simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_core::RunReport;
use autonoe_core::engine::RunInstruction;
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::{
    Driver, FAULTS_END, HOSTS, Host, Random, Rules, SimulatedWork, Simulator, Stats, Store,
    Violation,
};

use super::super::super::SessionsEvent;
use super::history::History;
use super::{server, workers};
use crate::Timeouts;
use crate::sessions::activities::{EndCall, SessionCall};

/// The simulation of a run on a cluster.
pub(super) type Simulation = Simulator<Cluster>;

/// The server, and its state of the run.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) history: History,
    /// The activity that is scheduled or in progress.
    pub(super) activity: Option<Activity>,
    /// The running timer.
    pub(super) timer: Option<u64>,
    /// The counter of activity and timer IDs.
    pub(super) ids: u64,
    /// The times at which the server is unreachable.
    pub(super) outages: Vec<(u64, u64)>,
    /// The epoch and the host of the last session.
    pub(super) last: Option<(Epoch, String)>,
    pub(super) violation: Option<Violation>,
    pub(super) sent: Vec<String>,
    pub(super) received: BTreeSet<String>,
    pub(super) losses: Losses,
    /// The ends that hosts were requested to record.
    pub(super) requested_ends: Vec<RunReport>,
    /// The recorded ends.
    pub(super) ends: Vec<RunReport>,
    pub(super) counted: Counted,
}

/// Lost sessions, as an observer sees them: they started and left no end.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Number of starts of each session.
    pub(super) starts: BTreeMap<u32, u32>,
    /// Whether the session in progress was lost on its current host.
    pub(super) is_lost_here: bool,
    /// The number of unreachable hosts that lost it.
    pub(super) hosts: u32,
    /// The losses of ended sessions.
    pub(super) counted: usize,
}

/// A scheduled or started activity.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    pub(super) id: u64,
    pub(super) attempt: u32,
    pub(super) kind: ActivityKind,
    /// The only host that may take it.
    pub(super) host: Option<usize>,
    pub(super) is_started: bool,
    pub(super) last_heartbeat: u64,
}

/// The kind of an activity.
#[derive(Clone, Debug)]
pub(super) enum ActivityKind {
    Claim,
    ReadLedger,
    Session(Box<SessionCall>),
    Conclude(Box<EndCall>),
}

/// One attempt of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) attempt: u32,
}

/// An event of a worker or of the server.
#[derive(Debug)]
pub(super) enum Event {
    /// A worker polls for work, and sends a heartbeat.
    Beat { life: u32 },
    /// A worker has received a task.
    Received {
        life: u32,
        task: Task,
        kind: ActivityKind,
    },
    /// An agent has finished; its work is not recorded yet.
    SessionOver(Work),
    /// The server receives the result of a task.
    Done {
        task: Task,
        event: Box<SessionsEvent>,
    },
    /// The server checks whether a task was accepted in time.
    Untaken(Task),
    /// The server checks whether a worker's heartbeats are overdue.
    Silent(Task),
    /// The server checks whether a task has taken too long, including all attempts.
    TooLong(u64),
    /// A timer fires.
    TimedOut(u64),
    /// An operator sends an instruction.
    Instructed(RunInstruction),
    /// An operator cancels the run.
    Cancelled,
}

/// The state of a worker.
#[derive(Debug, Default)]
pub(super) struct WorkerState {
    /// The session that it works on or waits for, as the server knows it.
    pub(super) task: Option<Task>,
    /// The agent that works in the project on this host, and keeps others of this host out.
    pub(super) work: Option<Work>,
}

/// A session in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) life: u32,
    pub(super) task: Task,
    pub(super) epoch: Epoch,
    pub(super) number: u32,
}

/// Counts of events that only a cluster knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) replays: u64,
    pub(super) new_histories: u64,
    pub(super) hosts_lost: u64,
    pub(super) held: u64,
    /// Results that arrived after the server had given up.
    pub(super) late: u64,
    /// The runs whose host has confirmed that their end is recorded.
    pub(super) concluded: u64,
    /// Those of them that were cancelled.
    pub(super) cancelled_and_concluded: u64,
    /// The runs whose host did not confirm it in time, or was fenced.
    pub(super) unconcluded: u64,
    /// Messages of an operator that no session received.
    pub(super) undelivered: Vec<String>,
    /// Problems of the recorded ends.
    pub(super) wrong_ends: Vec<String>,
}

impl Counted {
    pub(super) fn add(&mut self, other: &Self) {
        self.replays += other.replays;
        self.new_histories += other.new_histories;
        self.hosts_lost += other.hosts_lost;
        self.held += other.held;
        self.late += other.late;
        self.concluded += other.concluded;
        self.cancelled_and_concluded += other.cancelled_and_concluded;
        self.unconcluded += other.unconcluded;
    }
}

/// Plays the schedule of `seed` on a cluster.
pub(super) fn simulate(seed: u64, rules: Rules) -> Result<(Stats, Counted), Violation> {
    // A different random sequence than that of the simulation.
    let mut random = Random::new(!seed);
    let timeouts = Timeouts {
        host: Duration::from_secs(random.between(5, 15)),
        // Whether a run ends whose workers always die is tested elsewhere.
        attempts: u32::MAX,
        sessions_in_history: u32::try_from(random.between(1, 4)).expect("small"),
        ..Timeouts::default()
    };
    let mut begin = super::super::begin(SimulatedWork::limits(), timeouts);
    begin.run.id = SimulatedWork::run();
    if random.chance(20) {
        begin.host_queue = Some(random.between(0, HOSTS as u64 - 1).to_string());
    }
    let cluster = Cluster {
        history: History::new(begin),
        activity: None,
        timer: None,
        ids: 0,
        outages: outages(&mut random),
        last: None,
        violation: None,
        sent: Vec::new(),
        received: BTreeSet::new(),
        losses: Losses::default(),
        requested_ends: Vec::new(),
        ends: Vec::new(),
        counted: Counted::default(),
    };
    let played = autonoe_testkit::simulation::simulate(seed, rules, cluster, |simulation| {
        plan_instructions(simulation, &mut random);
        server::decide(simulation);
    });
    played.map(|(tally, cluster)| (tally, cluster.counted))
}

/// Chooses the outages of the server.
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

/// Plans instructions of operators. Each pause is followed by a resume, and some runs are
/// cancelled.
fn plan_instructions(simulation: &mut Simulation, random: &mut Random) {
    for number in 0..random.between(0, 4) {
        let at = random.between(0, FAULTS_END);
        let message = RunInstruction::Message(format!("word {number}"));
        simulation.plan_global(at, Event::Instructed(message));
    }
    for _ in 0..random.between(0, 3) {
        let at = random.between(0, FAULTS_END);
        simulation.plan_global(at, Event::Instructed(RunInstruction::Pause));
        let at = at + random.between(1000, 40_000);
        simulation.plan_global(at, Event::Instructed(RunInstruction::Resume));
    }
    if random.chance(25) {
        let at = random.between(0, FAULTS_END);
        simulation.plan_global(at, Event::Cancelled);
    }
    // Instructions that are sent during an outage may arrive in another order.
    let at = FAULTS_END + 60_000;
    simulation.plan_global(at, Event::Instructed(RunInstruction::Resume));
}

impl Driver for Cluster {
    type Event = Event;
    type HostState = WorkerState;

    fn first(life: u32) -> Event {
        Event::Beat { life }
    }

    fn receives(host: &Host<WorkerState>, event: &Event) -> bool {
        match event {
            Event::Beat { life } | Event::Received { life, .. } => host.is_current_life(*life),
            Event::SessionOver(work) => host.is_agent_running(work.life),
            other => unreachable!("{other:?} is an event of the server"),
        }
    }

    fn reaches_isolated_host(event: &Event) -> bool {
        matches!(event, Event::Beat { .. })
    }

    fn apply(simulation: &mut Simulation, host: usize, event: Event) {
        match event {
            Event::Beat { life } => workers::beat(simulation, host, life),
            Event::Received { life, task, kind } => {
                workers::receive(simulation, host, life, task, kind);
            }
            Event::SessionOver(work) => workers::session_over(simulation, host, work),
            other => unreachable!("{other:?} is an event of the server"),
        }
    }

    fn apply_global(simulation: &mut Simulation, event: Event) {
        server::handle(simulation, event);
    }

    fn crash(worker: &mut WorkerState, orphan: Option<u32>, _store: &mut Store) {
        worker.task = None;
        // A surviving agent keeps others out until its end.
        if worker.work.is_some_and(|work| Some(work.life) != orphan) {
            worker.work = None;
        }
    }

    fn lost(&self, _store: &Store) -> usize {
        self.losses.counted
    }

    fn violation(&self) -> Option<Violation> {
        self.violation.clone()
    }
}
