//! A loop whose process is lost, again and again, and served again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentSessionId, CostTotal, CostUsd, Failure, JobRunner, RunControl, RunDesk, RunId, RunMessage,
    RunOutcome, RunProgress, RunRequest, RunSpec, Spent,
};
use autonoe_harness::{
    ExecuteError, Execution, ExecutionEnd, ExecutionResult, Executor, Executors, Task, TaskId,
    TaskLoop, Verification, WorkEvent, WorkJournal, WorkObserver, WorkOrder, WorkSoFar,
};
use autonoe_testkit::VirtualClock;
use tempfile::TempDir;
use tokio::sync::Notify;

/// When a process is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kill {
    /// When it was about to write the line of that number, from 0.
    Before(usize),
    /// When it had written that line, and done nothing else.
    After(usize),
    Never,
}

/// A journal of a process that is lost.
struct Mortal {
    journal: WorkJournal,
    noted: AtomicUsize,
    kill: Kill,
    is_lost: Notify,
}

impl Mortal {
    async fn dies(&self) {
        self.is_lost.notify_one();
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl WorkObserver for Mortal {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        let number = self.noted.fetch_add(1, Ordering::SeqCst);
        if self.kill == Kill::Before(number) {
            self.dies().await;
        }
        self.journal.note(event).await?;
        if self.kill == Kill::After(number) {
            self.dies().await;
        }
        Ok(())
    }

    async fn so_far(&self) -> Result<WorkSoFar, Failure> {
        self.journal.so_far().await
    }
}

/// What an agent does in a turn: the first for the first turn ever, in whichever life.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    /// Says that, and is not done.
    Says(&'static str),
    /// Says that, and is done.
    Does(&'static str),
    /// Has no quota for so many seconds from the beginning of all.
    NoQuota(u64),
    /// Has no quota, and nobody knows for how long.
    NoQuotaForAWhile,
    /// Fails in a way that may pass.
    Broken,
    /// Never comes to an end.
    Hangs,
    /// Ends when it is stopped, and does not tell what it cost.
    UntilStopped,
}

/// Works on tasks, and remembers it whatever becomes of the loops.
#[derive(Default)]
pub(crate) struct Worker {
    /// What is done in each turn of a task; the last one again and again.
    turns: BTreeMap<TaskId, Vec<Turn>>,
    /// How many turns came to their end.
    had: Mutex<BTreeMap<TaskId, usize>>,
    begun: AtomicUsize,
    /// What it was told to do.
    goals: Mutex<Vec<String>>,
    /// What each turn was to continue.
    resumed: Mutex<Vec<Option<AgentSessionId>>>,
}

#[async_trait]
impl Executor for Worker {
    fn cli_name(&self) -> &str {
        "worker"
    }

    fn default_model(&self) -> Option<&str> {
        None
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionResult, ExecuteError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.goals.lock().expect("a lock").push(task.goal.clone());
        let resume = execution.resume.clone();
        self.resumed.lock().expect("a lock").push(resume);
        let turns = &self.turns[&task.id];
        let had = self.had.lock().expect("a lock").get(&task.id).copied();
        let turn = &turns[had.unwrap_or_default().min(turns.len() - 1)];
        tokio::time::sleep(Duration::from_secs(60)).await;
        while let Some(request) = execution.control.waiting_request() {
            if let RunRequest::Say(message) = request {
                message.settle();
            }
        }
        let (end, said, is_done) = match turn {
            Turn::Says(text) => (ExecutionEnd::Completed, *text, false),
            Turn::Does(text) => (ExecutionEnd::Completed, *text, true),
            Turn::NoQuota(seconds) => {
                let now = VirtualClock::new();
                let resets_at = autonoe_core::Clock::now(&now) + Duration::from_secs(*seconds);
                let end = ExecutionEnd::QuotaExceeded {
                    message: "spent".to_owned(),
                    resets_at: Some(resets_at),
                };
                (end, "", false)
            }
            Turn::NoQuotaForAWhile => {
                let end = ExecutionEnd::QuotaExceeded {
                    message: "spent".to_owned(),
                    resets_at: None,
                };
                (end, "", false)
            }
            Turn::Broken => {
                let error = Failure::retryable("network", "no answer");
                (ExecutionEnd::Failed { error }, "", false)
            }
            Turn::Hangs => std::future::pending().await,
            Turn::UntilStopped => {
                execution.control.cancelled().await;
                (ExecutionEnd::Cancelled, "", false)
            }
        };
        let mut all = self.had.lock().expect("a lock");
        let had = all.entry(task.id.clone()).or_default();
        *had += 1;
        let mut result = ExecutionResult::new(task, "worker", end);
        result.conversation = Some(AgentSessionId::new(format!("{}/{had}", task.id)));
        drop(all);
        result.output = said.to_owned();
        result.answer = match is_done {
            true => format!("done: {said}"),
            false => String::new(),
        };
        result.duration = Duration::from_secs(60);
        result.cost = match turn {
            Turn::UntilStopped => CostTotal::unknown(),
            _ => CostTotal::known(CostUsd::from_cents(7)),
        };
        result.tokens.input = 100;
        Ok(result)
    }

    async fn verify_success(&self, _: &Task, result: &ExecutionResult) -> Verification {
        match result.answer.starts_with("done") {
            true => Verification::passed("it is there"),
            false => Verification::failed("it is not there"),
        }
    }
}

/// A run that is served until it has an outcome.
pub(crate) struct Lives {
    folder: TempDir,
    pub(crate) worker: Arc<Worker>,
    pub(crate) clock: Arc<VirtualClock>,
    order: WorkOrder,
    message: Option<&'static str>,
    reports: Arc<Mutex<Vec<RunProgress>>>,
}

impl Lives {
    pub(crate) fn new<const N: usize>(order: WorkOrder, turns: [(&str, Vec<Turn>); N]) -> Self {
        let turns = turns.map(|(id, turns)| (id.parse::<TaskId>().expect("an id"), turns));
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            worker: Arc::new(Worker {
                turns: turns.into(),
                ..Worker::default()
            }),
            clock: Arc::new(VirtualClock::new()),
            order,
            message: None,
            reports: Arc::default(),
        }
    }

    /// Has a person say something, which is said again in each life until it is settled.
    pub(crate) fn telling(mut self, message: &'static str) -> Self {
        self.message = Some(message);
        self
    }

    /// Serves the run; `None` if its process is lost on the way.
    pub(crate) async fn serve(&self, kill: Kill) -> Option<RunOutcome> {
        let observer = Arc::new(Mortal {
            journal: WorkJournal::open(&self.journal()).expect("a journal"),
            noted: AtomicUsize::new(0),
            kill,
            is_lost: Notify::new(),
        });
        let work = self.work().observed_by(observer.clone());
        let control = RunControl::new();
        if let Some(text) = self.message {
            control.tell(RunMessage::new(text).with_id("1"));
        }
        tokio::select! {
            biased;
            outcome = self.carry_out(&work, "member", control) => Some(outcome),
            () = observer.is_lost.notified() => None,
        }
    }

    /// Serves the run for a while, and leaves it in order.
    pub(crate) async fn serve_and_leave(&self, after: Duration) -> RunOutcome {
        let journal = WorkJournal::open(&self.journal()).expect("a journal");
        let work = self.work().observed_by(Arc::new(journal));
        let control = RunControl::new();
        let leaving = async {
            tokio::time::sleep(after).await;
            control.cancel();
        };
        let (outcome, ()) = tokio::join!(self.carry_out(&work, "member", control.clone()), leaving);
        outcome
    }

    /// Serves another run with the same journal.
    pub(crate) async fn serve_as(&self, run: &str) -> RunOutcome {
        let journal = WorkJournal::open(&self.journal()).expect("a journal");
        let work = self.work().observed_by(Arc::new(journal));
        self.carry_out(&work, run, RunControl::new()).await
    }

    /// Makes a loop that nobody observes.
    pub(crate) fn work(&self) -> TaskLoop {
        let worker = self.worker.clone();
        let workshop = move |_: &Path| Executors::default().with(worker.clone());
        TaskLoop::new(self.folder.path(), workshop).clock(self.clock.clone())
    }

    pub(crate) async fn carry_out(
        &self,
        work: &TaskLoop,
        run: &str,
        control: RunControl,
    ) -> RunOutcome {
        let input = serde_json::to_value(&self.order).expect("it serialises");
        let run = RunSpec::new(RunId::new(run), "work", input);
        let reports = self.reports.clone();
        let desk = RunDesk::new(control, move |progress| {
            reports.lock().expect("a lock").push(progress);
        });
        work.run(&run, &desk).await
    }

    /// Serves the run, and loses its process at each of `kills`, until it has an outcome.
    pub(crate) async fn serve_through(&self, kills: impl IntoIterator<Item = Kill>) -> RunOutcome {
        for kill in kills {
            if let Some(outcome) = self.serve(kill).await {
                return outcome;
            }
        }
        let outcome = self.serve(Kill::Never).await;
        outcome.expect("nothing ends it before its end")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.path().join("work.jsonl")
    }

    pub(crate) fn events(&self) -> Vec<WorkEvent> {
        WorkJournal::read(&self.journal()).expect("a journal")
    }

    pub(crate) fn begun(&self) -> usize {
        self.worker.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn goals(&self) -> Vec<String> {
        self.worker.goals.lock().expect("a lock").clone()
    }

    /// Returns the conversations that the turns were to continue, in order.
    pub(crate) fn resumed(&self) -> Vec<Option<String>> {
        let resumed = self.worker.resumed.lock().expect("a lock");
        let resumed = resumed.iter();
        resumed
            .map(|id| id.as_ref().map(ToString::to_string))
            .collect()
    }

    pub(crate) fn reports(&self) -> Vec<RunProgress> {
        self.reports.lock().expect("a lock").clone()
    }
}

/// What the journal says of all lives together.
pub(crate) struct Written {
    /// The numbers of the iterations of each task that began, in order, those on branches apart.
    pub(crate) began: BTreeMap<TaskId, Vec<u32>>,
    /// How often each task was found to be done.
    pub(crate) verified: BTreeMap<TaskId, usize>,
    /// How many iterations came to their end.
    pub(crate) iterated: usize,
    pub(crate) cut_off: usize,
    /// In how many iterations somebody was told something.
    pub(crate) told: usize,
    /// The steps of the ladder that were taken, in order.
    pub(crate) steps: Vec<String>,
    /// What the iterations that came to their end took.
    pub(crate) spent: Spent,
}

impl Written {
    pub(crate) fn of(events: &[WorkEvent]) -> Self {
        let mut written = Self {
            began: BTreeMap::new(),
            verified: BTreeMap::new(),
            iterated: 0,
            cut_off: 0,
            told: 0,
            steps: Vec::new(),
            spent: Spent::default(),
        };
        let mut begun = 0;
        for event in events {
            match event {
                WorkEvent::IterationBegan {
                    task, iteration, ..
                } => {
                    begun += 1;
                    let numbers = written.began.entry(task.clone()).or_default();
                    numbers.push(*iteration);
                }
                WorkEvent::Iterated {
                    task,
                    verification,
                    told,
                    cost,
                    tokens,
                    duration_ms,
                    ..
                } => {
                    written.iterated += 1;
                    written.told += usize::from(!told.is_empty());
                    written.spent.cost.merge(*cost);
                    written.spent.tokens += *tokens;
                    written.spent.time += Duration::from_millis(*duration_ms);
                    if verification.is_success() {
                        *written.verified.entry(task.clone()).or_default() += 1;
                    }
                }
                WorkEvent::Recovered { step, .. } => written.steps.push(step.label.clone()),
                _ => {}
            }
        }
        written.cut_off = begun - written.iterated;
        written
    }
}
