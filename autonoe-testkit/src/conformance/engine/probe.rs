//! The work that runs of the suite do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    CostUsd, Failure, JobRunner, RunDesk, RunId, RunOutcome, RunProgress, RunRequest, RunSpec,
    Spent,
};
use serde_json::{Value, json};
use tokio::sync::watch;

/// What a run of the suite does, by its input.
pub(super) mod does {
    use serde_json::{Value, json};

    /// Gives a value.
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

    /// Works until it is released, and takes a while to end when it is cancelled. What it is told
    /// is what it gives.
    pub(in super::super) fn hold() -> Value {
        json!({"does": "hold"})
    }
}

/// How long a run takes to end once it is cancelled.
const CLEARING: Duration = Duration::from_millis(300);

/// Carries out the runs of the suite, and sees what becomes of them.
#[derive(Debug, Default)]
pub(super) struct Probe {
    runs: Mutex<HashMap<RunId, Arc<Seen>>>,
}

/// What was seen of one run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// How often it was begun.
    pub(super) begun: watch::Sender<usize>,
    /// Whether it may end.
    released: watch::Sender<bool>,
    /// What it was told.
    pub(super) told: watch::Sender<Vec<String>>,
    /// Whether it has ended all that it started.
    pub(super) cleared: watch::Sender<bool>,
}

impl Seen {
    pub(super) fn release(&self) {
        self.released.send_replace(true);
    }
}

impl Probe {
    /// Returns what is seen of a run.
    pub(super) fn of(&self, run: &RunId) -> Arc<Seen> {
        self.runs().entry(run.clone()).or_default().clone()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Seen>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What each run spends.
pub(super) fn spent() -> Spent {
    let mut spent = Spent::default();
    spent.cost.add(Some(CostUsd::from_cents(3)));
    spent.tokens.input = 7;
    spent
}

/// How far a run says that it is when it has begun.
pub(super) fn halfway() -> RunProgress {
    let mut at = RunProgress::of(0.5);
    at.task = Some("half of it".to_owned());
    at.iteration = 2;
    at.spent = spent();
    at
}

#[async_trait]
impl JobRunner for Probe {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let seen = self.of(&run.id);
        seen.begun.send_modify(|begun| *begun += 1);
        desk.report(halfway());
        let outcome = match run.input["does"].as_str() {
            Some("give") => RunOutcome::succeeded(run.input["value"].clone()),
            Some("fail") => RunOutcome::failed(Failure::permanent("no_luck", "it was not to be")),
            Some("panic") => std::panic::panic_any("as it was told to"),
            _ => hold(&seen, desk).await,
        };
        outcome.with_spent(spent())
    }
}

async fn hold(seen: &Seen, desk: &RunDesk) -> RunOutcome {
    let mut released = seen.released.subscribe();
    loop {
        let may_end = async { released.wait_for(|released| *released).await.map(|_| ()) };
        tokio::select! {
            () = desk.control().cancelled() => {
                tokio::time::sleep(CLEARING).await;
                seen.cleared.send_replace(true);
                return RunOutcome::cancelled("it was told to end");
            }
            request = desk.control().next_request() => {
                seen.told.send_modify(|told| told.push(words(request)));
            }
            _ = may_end => {
                let told = seen.told.borrow().clone();
                return RunOutcome::succeeded(json!({"told": told}));
            }
        }
    }
}

fn words(request: RunRequest) -> String {
    match request {
        RunRequest::Pause => "pause".to_owned(),
        RunRequest::Resume => "resume".to_owned(),
        RunRequest::Say(message) => {
            let text = message.text().to_owned();
            message.settle();
            text
        }
    }
}

/// Returns what a run gave that was told `lines`.
pub(super) fn given(lines: &[String]) -> Value {
    json!({"told": lines})
}
