//! The work that sub-harnesses of the suite do.

use async_trait::async_trait;
use autonoe_core::{Failure, JobRunner, RunDesk, RunOutcome, RunProgress, RunRequest, RunSpec};
use serde_json::json;

/// The kind of the jobs with which [`handle`](super::handle) tries a handle.
pub const HANDLE_JOB: &str = "conformance-handle";

/// Carries out the sub-harnesses with which [`handle`](super::handle) tries a handle, in this
/// process or in another.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandleJob;

/// How far a run says that it is when it has begun.
pub(super) fn halfway() -> RunProgress {
    let mut at = RunProgress::of(0.5);
    at.task = Some("half of it".to_owned());
    at.iteration = 2;
    at
}

#[async_trait]
impl JobRunner for HandleJob {
    async fn carry_out(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        desk.report(halfway());
        match run.input["does"].as_str() {
            Some("give") => RunOutcome::succeeded(run.input["value"].clone()),
            Some("fail") => RunOutcome::failed(Failure::permanent("no_luck", "it was not to be")),
            Some("panic") => std::panic::panic_any("as it was told to"),
            Some("collect") => {
                let count = run.input["count"].as_u64().unwrap_or_default();
                collect(desk, usize::try_from(count).unwrap_or_default()).await
            }
            // It does not mind whether it is cancelled.
            Some("stubborn") => std::future::pending().await,
            _ => {
                desk.control().cancelled().await;
                RunOutcome::cancelled("it was told to end")
            }
        }
    }
}

/// Takes so many commands and gives what they were.
async fn collect(desk: &RunDesk, count: usize) -> RunOutcome {
    let mut told = Vec::new();
    while told.len() < count {
        tokio::select! {
            () = desk.control().cancelled() => return RunOutcome::cancelled("it was told to end"),
            command = desk.control().next_request() => told.push(match command {
                RunRequest::Pause => "(pause)".to_owned(),
                RunRequest::Resume => "(resume)".to_owned(),
                RunRequest::Say(message) => {
                    let text = message.text().to_owned();
                    message.settle();
                    text
                }
            }),
        }
    }
    RunOutcome::succeeded(json!(told))
}
