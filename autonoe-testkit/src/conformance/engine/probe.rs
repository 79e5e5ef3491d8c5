//! Job runner of the suite.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunProgress, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::run::RunRequest;
use autonoe_core::{CostUsd, RunId};
use serde_json::{Value, json};
use tokio::sync::watch;

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
        seen.starts.send_modify(|begun| *begun += 1);
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
                seen.instructions.send_modify(|told| told.push(request_text(request)));
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
