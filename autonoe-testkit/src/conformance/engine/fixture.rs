//! Fixture shared by the engine checks, and its job runner.

/// Inputs of the suite's runs.
pub(super) mod does {
    use serde_json::{Value, json};

    /// Succeeds with a value.
    pub(in super::super) fn give(value: &str) -> Value {
        json!({"does": "give", "value": value})
    }

    /// Fails.
    pub(in super::super) fn fail() -> Value {
        json!({"does": "fail"})
    }

    /// Panics.
    pub(in super::super) fn panic() -> Value {
        json!({"does": "panic"})
    }

    /// Runs until it is released, and takes a while to end when it is cancelled. Its result
    /// contains the instructions it received.
    pub(in super::super) fn hold() -> Value {
        json!({"does": "hold"})
    }
}

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{
    Engine, EngineError, JobContext, JobRunner, Placement, RunInstruction, RunOutcome, RunProgress,
    RunSpec, RunView,
};
use autonoe_core::event::Failure;
use autonoe_core::run::RunRequest;
use autonoe_core::{CostUsd, RunId};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::ENGINE_JOB;
use crate::conformance::checks::{CheckOutcome, Flaw};

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// An engine and the observations of its runs.
pub(super) struct Fixture {
    pub(super) engine: Arc<dyn Engine>,
    probe: Arc<Probe>,
}

impl Fixture {
    pub(super) async fn new(make: &impl AsyncFn(Arc<dyn JobRunner>) -> Arc<dyn Engine>) -> Self {
        let probe = Arc::new(Probe::default());
        Self {
            engine: make(probe.clone()).await,
            probe,
        }
    }

    pub(super) fn seen(&self, run: &RunId) -> Arc<RunObservations> {
        self.probe.observations(run)
    }

    /// Submits a run with a new id.
    pub(super) async fn start(&self, input: Value) -> CheckOutcome<RunSpec> {
        let run = RunSpec::new(new_id(), ENGINE_JOB, input);
        self.submit(&run).await?;
        Ok(run)
    }

    /// Submits a run that holds, and waits until it has started.
    pub(super) async fn start_holding(&self) -> CheckOutcome<(RunSpec, Arc<RunObservations>)> {
        let run = self.start(does::hold()).await?;
        let seen = self.seen(&run.id);
        until(&seen.starts, |starts| *starts > 0).await?;
        Ok((run, seen))
    }

    /// Submits a run, which must be accepted under its id.
    pub(super) async fn submit(&self, run: &RunSpec) -> CheckOutcome {
        let id = self.engine.submit(run.clone(), Placement::anywhere()).await;
        let id = id.map_err(|error| unexpected("submit", &error))?;
        ensure!(
            id == run.id,
            "{} was submitted, and accepted as {id}",
            run.id
        );
        Ok(())
    }

    pub(super) async fn wait(&self, run: &RunId) -> CheckOutcome<RunOutcome> {
        let outcome = self.engine.wait(run).await;
        outcome.map_err(|error| unexpected("wait", &error))
    }

    pub(super) async fn cancel(&self, run: &RunId, reason: &str) -> CheckOutcome {
        let cancelled = self.engine.cancel(run, reason).await;
        cancelled.map_err(|error| unexpected("cancel", &error))
    }

    pub(super) async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> CheckOutcome {
        let result = self.engine.instruct(run, instruction).await;
        result.map_err(|error| unexpected("instruct", &error))
    }

    pub(super) async fn status(&self, run: &RunId) -> CheckOutcome<RunView> {
        let view = self.engine.status(run).await;
        view.map_err(|error| unexpected("status", &error))
    }

    /// Polls a run until `is_so` returns true. The time limit of the check ends the wait.
    pub(super) async fn wait_for_status(
        &self,
        run: &RunId,
        is_so: impl Fn(&RunView) -> bool,
    ) -> CheckOutcome<RunView> {
        const MAX_POLLS: u32 = 1_000;
        let mut view = self.status(run).await?;
        for _ in 0..MAX_POLLS {
            if is_so(&view) {
                return Ok(view);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
            view = self.status(run).await?;
        }
        Err(Flaw::Failed(format!("the state of the run stays {view:?}")))
    }
}

/// Waits until `is_so` returns true for the observed value.
pub(super) async fn until<T>(seen: &watch::Sender<T>, is_so: impl Fn(&T) -> bool) -> CheckOutcome {
    let mut seen = seen.subscribe();
    let found = seen.wait_for(is_so).await;
    found
        .map(|_| ())
        .map_err(|_| Flaw::Untestable("the state that the suite watches is gone".to_owned()))
}

pub(super) fn unexpected(request: &str, error: &EngineError) -> Flaw {
    Flaw::Failed(format!("{request} was refused: {error}"))
}

/// Returns an id that no run has had, neither here nor on a server that remembers its runs.
pub(super) fn new_id() -> RunId {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.unwrap_or_default().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    RunId::new(format!(
        "conformance-{}-{nanos}-{count}",
        std::process::id()
    ))
}

/// The time that a run takes to end after its cancellation.
const CLEARING: Duration = Duration::from_millis(300);

/// Executes the runs of the suite and observes them.
#[derive(Debug, Default)]
pub(super) struct Probe {
    runs: Mutex<HashMap<RunId, Arc<RunObservations>>>,
}

/// Observations of one run.
#[derive(Debug, Default)]
pub(super) struct RunObservations {
    /// Number of starts of the run.
    pub(super) starts: watch::Sender<usize>,
    /// Whether the run may end.
    released: watch::Sender<bool>,
    /// The received instructions.
    pub(super) instructions: watch::Sender<Vec<String>>,
    /// Whether the run has stopped everything that it started.
    pub(super) cleared: watch::Sender<bool>,
}

impl RunObservations {
    pub(super) fn release(&self) {
        self.released.send_replace(true);
    }
}

impl Probe {
    /// Returns the observations of a run.
    pub(super) fn observations(&self, run: &RunId) -> Arc<RunObservations> {
        self.runs().entry(run.clone()).or_default().clone()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<RunObservations>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the consumption of each run.
pub(super) fn consumption() -> BudgetUsage {
    let mut spent = BudgetUsage::default();
    spent.cost.add(Some(CostUsd::from_cents(3)));
    spent.tokens.input = 7;
    spent
}

/// Returns the progress that a run reports after its start.
pub(super) fn halfway() -> RunProgress {
    let mut at = RunProgress::new(0.5);
    at.task = Some("half of it".to_owned());
    at.iteration = 2;
    at.spent = consumption();
    at
}

#[async_trait]
impl JobRunner for Probe {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let seen = self.observations(&run.id);
        seen.starts.send_modify(|starts| *starts += 1);
        context.report(halfway());
        let outcome = match run.input["does"].as_str() {
            Some("give") => RunOutcome::succeeded(run.input["value"].clone()),
            Some("fail") => RunOutcome::failed(Failure::permanent("no_luck", "it was not to be")),
            Some("panic") => std::panic::panic_any("as it was told to"),
            _ => hold(&seen, context).await,
        };
        outcome.with_spent(consumption())
    }
}

async fn hold(seen: &RunObservations, context: &JobContext) -> RunOutcome {
    let mut released = seen.released.subscribe();
    loop {
        let may_end = async { released.wait_for(|released| *released).await.map(|_| ()) };
        tokio::select! {
            () = context.control().cancelled() => {
                tokio::time::sleep(CLEARING).await;
                seen.cleared.send_replace(true);
                return RunOutcome::cancelled("it was told to end");
            }
            request = context.control().next_request() => {
                seen.instructions.send_modify(|requests| requests.push(request_text(request)));
            }
            _ = may_end => {
                let lines = seen.instructions.borrow().clone();
                return RunOutcome::succeeded(json!({"told": lines}));
            }
        }
    }
}

fn request_text(request: RunRequest) -> String {
    match request {
        RunRequest::Pause => "pause".to_owned(),
        RunRequest::Resume => "resume".to_owned(),
        RunRequest::Instruct(message) => {
            let text = message.text().to_owned();
            message.acknowledge();
            text
        }
    }
}

/// Returns the result of a run that received `lines`.
pub(super) fn expected_result(lines: &[String]) -> Value {
    json!({"told": lines})
}
