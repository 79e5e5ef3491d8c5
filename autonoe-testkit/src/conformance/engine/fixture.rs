//! Fixture shared by the engine checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, EngineError, JobRunner, Placement, RunInstruction, RunOutcome, RunSpec, RunView,
};
use serde_json::Value;
use tokio::sync::watch;

use super::ENGINE_JOB;
use super::probe::{Probe, RunObservations};
use crate::conformance::checks::{CheckOutcome, Flaw};

/// The polling interval.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

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
        let run = self.start(super::probe::does::hold()).await?;
        let seen = self.seen(&run.id);
        until(&seen.starts, |begun| *begun > 0).await?;
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
        const LOOKS: u32 = 1_000;
        let mut view = self.status(run).await?;
        for _ in 0..LOOKS {
            if is_so(&view) {
                return Ok(view);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
            view = self.status(run).await?;
        }
        Err(Flaw::Failed(format!("the state of the run stays {view:?}")))
    }
}

/// Waits until `is_so` returns true for the observed value.
pub(super) async fn until<T>(seen: &watch::Sender<T>, is_so: impl Fn(&T) -> bool) -> CheckOutcome {
    let mut seen = seen.subscribe();
    let came = seen.wait_for(is_so).await;
    came.map(|_| ())
        .map_err(|_| Flaw::Untestable("the state that the suite watches is gone".to_owned()))
}

pub(super) fn unexpected(what: &str, error: &EngineError) -> Flaw {
    Flaw::Failed(format!("{what} was refused: {error}"))
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
