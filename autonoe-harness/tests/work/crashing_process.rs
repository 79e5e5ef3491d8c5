//! Fixture: a loop whose process is lost again and again, and resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunProgress, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::run::{RunMessage, RunRequest};
use autonoe_core::time::AgentSessionId;
use autonoe_core::{CostUsd, RunControl, RunId};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{ExecuteError, ExecutionOutcome, Verification};
use autonoe_harness::work::{RecoveredState, WorkEvent, WorkJournal, WorkObserver, WorkOrder};
use autonoe_harness::{Execution, ExecutionReport, Executor, Executors, Task, TaskId, TaskLoop};
use autonoe_testkit::VirtualClock;
use tempfile::TempDir;
use tokio::sync::Notify;

/// Time at which a process is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kill {
    /// Before it wrote the line with this index, starting at 0.
    Before(usize),
    /// After it wrote that line, and did nothing else.
    After(usize),
    Never,
}

/// The journal of a process that is lost.
struct CrashingJournal {
    journal: WorkJournal,
    noted: AtomicUsize,
    kill: Kill,
    is_lost: Notify,
}

impl CrashingJournal {
    async fn dies(&self) {
        self.is_lost.notify_one();
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl WorkObserver for CrashingJournal {
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

    async fn recovered_state(&self) -> Result<RecoveredState, Failure> {
        self.journal.recovered_state().await
    }
}

/// Behaviour of an agent in a turn: the first one applies to the first turn of all processes.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    /// Prints this text, and is not done.
    Says(&'static str),
    /// Prints this text, and is done.
    Does(&'static str),
    /// Has no quota for this many seconds from the very start.
    NoQuota(u64),
    /// Has no quota, with an unknown reset time.
    NoQuotaForAWhile,
    /// Fails in a way that may pass.
    Broken,
    /// Never ends.
    Hangs,
    /// Ends when it is stopped, and does not report its cost.
    UntilStopped,
}

/// Works on tasks, and records its turns across all processes.
#[derive(Default)]
pub(crate) struct Worker {
    /// The turns of each task; the last one is repeated.
    turns: BTreeMap<TaskId, Vec<Turn>>,
    /// Number of turns that ended.
    had: Mutex<BTreeMap<TaskId, usize>>,
    started_turns: AtomicUsize,
    /// The goals that it received.
    goals: Mutex<Vec<String>>,
    /// The conversation that each turn was to continue.
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
    ) -> Result<ExecutionReport, ExecuteError> {
        self.started_turns.fetch_add(1, Ordering::SeqCst);
        self.goals.lock().expect("a lock").push(task.goal.clone());
        let resume = execution.resume.clone();
        self.resumed.lock().expect("a lock").push(resume);
        let turns = &self.turns[&task.id];
        let had = self.had.lock().expect("a lock").get(&task.id).copied();
        let turn = &turns[had.unwrap_or_default().min(turns.len() - 1)];
        tokio::time::sleep(Duration::from_secs(60)).await;
        while let Some(request) = execution.control.try_next_request() {
            if let RunRequest::Instruct(message) = request {
                message.acknowledge();
            }
        }
        let (end, text, is_done) = match turn {
            Turn::Says(text) => (ExecutionOutcome::Completed, *text, false),
            Turn::Does(text) => (ExecutionOutcome::Completed, *text, true),
            Turn::NoQuota(seconds) => {
                let now = VirtualClock::new();
                let resets_at =
                    autonoe_core::time::Clock::now(&now) + Duration::from_secs(*seconds);
                let end = ExecutionOutcome::QuotaExceeded {
                    message: "spent".to_owned(),
                    resets_at: Some(resets_at),
                };
                (end, "", false)
            }
            Turn::NoQuotaForAWhile => {
                let end = ExecutionOutcome::QuotaExceeded {
                    message: "spent".to_owned(),
                    resets_at: None,
                };
                (end, "", false)
            }
            Turn::Broken => {
                let error = Failure::retryable("network", "no answer");
                (ExecutionOutcome::Failed { error }, "", false)
            }
            Turn::Hangs => std::future::pending().await,
            Turn::UntilStopped => {
                execution.control.cancelled().await;
                (ExecutionOutcome::Cancelled, "", false)
            }
        };
        let mut all = self.had.lock().expect("a lock");
        let had = all.entry(task.id.clone()).or_default();
        *had += 1;
        let mut result = ExecutionReport::new(task, "worker", end);
        result.conversation = Some(AgentSessionId::new(format!("{}/{had}", task.id)));
        drop(all);
        result.output = text.to_owned();
        result.answer = if is_done {
            format!("done: {text}")
        } else {
            String::new()
        };
        result.duration = Duration::from_secs(60);
        result.cost = match turn {
            Turn::UntilStopped => CostTotal::unknown(),
            _ => CostTotal::known(CostUsd::from_cents(7)),
        };
        result.tokens.input = 100;
        Ok(result)
    }

    async fn verify_success(
        &self,
        _: &Task,
        result: &ExecutionReport,
        _: &VerificationBudget,
    ) -> Verification {
        if result.answer.starts_with("done") {
            Verification::passed("it is there")
        } else {
            Verification::failed("it is not there")
        }
    }
}

/// A run that is served until it has an outcome.
pub(crate) struct CrashingRun {
    folder: TempDir,
    pub(crate) worker: Arc<Worker>,
    pub(crate) clock: Arc<VirtualClock>,
    order: WorkOrder,
    message: Option<&'static str>,
    reports: Arc<Mutex<Vec<RunProgress>>>,
}

impl CrashingRun {
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

    /// Adds a message of a person, which is sent again in each process until it is settled.
    pub(crate) fn message(mut self, message: &'static str) -> Self {
        self.message = Some(message);
        self
    }

    /// Serves the run; `None` if its process is lost on the way.
    pub(crate) async fn serve(&self, kill: Kill) -> Option<RunOutcome> {
        let observer = Arc::new(CrashingJournal {
            journal: WorkJournal::open(&self.journal()).expect("a journal"),
            noted: AtomicUsize::new(0),
            kill,
            is_lost: Notify::new(),
        });
        let work = self.work().observer(observer.clone());
        let control = RunControl::new();
        if let Some(text) = self.message {
            control.send_message(RunMessage::new(text).with_id("1"));
        }
        tokio::select! {
            biased;
            outcome = self.run_job(&work, "member", control) => Some(outcome),
            () = observer.is_lost.notified() => None,
        }
    }

    /// Serves the run for a while, and stops it in an orderly way.
    pub(crate) async fn serve_and_leave(&self, after: Duration) -> RunOutcome {
        let journal = WorkJournal::open(&self.journal()).expect("a journal");
        let work = self.work().observer(Arc::new(journal));
        let control = RunControl::new();
        let leaving = async {
            tokio::time::sleep(after).await;
            control.cancel();
        };
        let (outcome, ()) = tokio::join!(self.run_job(&work, "member", control.clone()), leaving);
        outcome
    }

    /// Serves another run with the same journal.
    pub(crate) async fn serve_as(&self, run: &str) -> RunOutcome {
        let journal = WorkJournal::open(&self.journal()).expect("a journal");
        let work = self.work().observer(Arc::new(journal));
        self.run_job(&work, run, RunControl::new()).await
    }

    /// Creates a loop without an observer.
    pub(crate) fn work(&self) -> TaskLoop {
        let worker = self.worker.clone();
        let executor_factory = move |_: &Path| Executors::default().executor(worker.clone());
        TaskLoop::new(self.folder.path(), executor_factory).clock(self.clock.clone())
    }

    pub(crate) async fn run_job(
        &self,
        work: &TaskLoop,
        run: &str,
        control: RunControl,
    ) -> RunOutcome {
        let input = serde_json::to_value(&self.order).expect("it serialises");
        let run = RunSpec::new(RunId::new(run), "work", input);
        let reports = self.reports.clone();
        let context = JobContext::new(control, move |progress| {
            reports.lock().expect("a lock").push(progress);
        });
        work.run(&run, &context).await
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

    pub(crate) fn started_turns(&self) -> usize {
        self.worker.started_turns.load(Ordering::SeqCst)
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

/// Summary of the journal over all processes.
pub(crate) struct Written {
    /// The numbers of each task's started iterations, in order, without those on branches.
    pub(crate) iterations: BTreeMap<TaskId, Vec<u32>>,
    /// Number of successful verifications of each task.
    pub(crate) verified: BTreeMap<TaskId, usize>,
    /// Number of recorded successful ends of each task.
    pub(crate) ended: BTreeMap<TaskId, usize>,
    /// Number of iterations that ended.
    pub(crate) iterated: usize,
    pub(crate) cut_off: usize,
    /// Number of iterations in which a message was delivered.
    pub(crate) delivered: usize,
    /// The steps of the ladder that were taken, in order.
    pub(crate) steps: Vec<String>,
    /// The spending of the iterations that ended.
    pub(crate) spent: BudgetUsage,
}

impl Written {
    pub(crate) fn from_events(events: &[WorkEvent]) -> Self {
        let mut written = Self {
            iterations: BTreeMap::new(),
            verified: BTreeMap::new(),
            ended: BTreeMap::new(),
            iterated: 0,
            cut_off: 0,
            delivered: 0,
            steps: Vec::new(),
            spent: BudgetUsage::default(),
        };
        let mut started_turns = 0;
        for event in events {
            match event {
                WorkEvent::IterationStarted {
                    task, iteration, ..
                } => {
                    started_turns += 1;
                    let numbers = written.iterations.entry(task.clone()).or_default();
                    numbers.push(*iteration);
                }
                WorkEvent::IterationEnded {
                    task,
                    verification,
                    messages,
                    cost,
                    tokens,
                    duration_ms,
                    ..
                } => {
                    written.iterated += 1;
                    written.delivered += usize::from(!messages.is_empty());
                    written.spent.cost.merge(*cost);
                    written.spent.tokens += *tokens;
                    written.spent.time += Duration::from_millis(*duration_ms);
                    if verification.is_success() {
                        *written.verified.entry(task.clone()).or_default() += 1;
                    }
                }
                WorkEvent::Ended { task, success, .. } if *success => {
                    *written.ended.entry(task.clone()).or_default() += 1;
                }
                WorkEvent::Recovered { step, .. } => written.steps.push(step.label.clone()),
                _ => {}
            }
        }
        written.cut_off = started_turns - written.iterated;
        written
    }
}
