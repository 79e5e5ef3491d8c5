//! The work that sub-harnesses of the suite do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    CostTotal, CostUsd, Failure, JobRunner, RunDesk, RunOutcome, RunProgress, RunRequest, RunSpec,
    Spent, TokenUsage,
};
use jiff::Timestamp;
use serde_json::json;

use crate::{Alert, HarnessFolder, HarnessId, Severity};

/// The kind of the jobs with which [`handle`](super::handle) tries a handle.
pub const HANDLE_JOB: &str = "conformance-handle";

/// Carries out the sub-harnesses with which [`handle`](super::handle) tries a handle, in this
/// process or in another.
#[derive(Clone)]
pub struct HandleJob {
    raise: Arc<dyn Fn(&Alert) + Send + Sync>,
}

impl HandleJob {
    /// Makes the job of a kind of sub-harness whose alerts `raise` writes down.
    pub fn new(raise: impl Fn(&Alert) + Send + Sync + 'static) -> Self {
        let raise = Arc::new(raise);
        Self { raise }
    }

    /// Makes the job of sub-harnesses with folders below `root`: alerts go to the log of a folder.
    pub fn in_folders(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self::new(move |alert| {
            let folder = alert
                .harness
                .as_ref()
                .and_then(|id| HarnessFolder::of(&root, id).ok());
            let written = folder.map(|folder| folder.alert_log().append(alert));
            // The check of alerts finds what was not written.
            drop(written);
        })
    }
}

impl fmt::Debug for HandleJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandleJob").finish_non_exhaustive()
    }
}

/// The alert that a run raises.
pub(super) fn alert(id: HarnessId) -> Alert {
    Alert::new(
        "conformance",
        Severity::Warning,
        "look at this",
        Timestamp::UNIX_EPOCH,
    )
    .of(id)
    .in_iteration(2)
    .with("deep", json!([1, null]))
}

/// Where a run says that its agent works.
pub(super) fn working_dir() -> PathBuf {
    PathBuf::from("/a project/with/a worktree")
}

/// How far a run says that it is when it has begun.
pub(super) fn halfway() -> RunProgress {
    let mut at = RunProgress::of(0.5);
    at.task = Some("half of it".to_owned());
    at.iteration = 2;
    at.working_dir = Some(working_dir());
    at
}

/// How far a run says that it is that spends something.
fn paid() -> RunProgress {
    let mut at = halfway();
    at.spent = spent();
    at
}

/// What a run says that it has spent.
pub(super) fn spent() -> Spent {
    let tokens = TokenUsage {
        input: 7,
        ..TokenUsage::default()
    };
    Spent {
        cost: CostTotal::known(CostUsd::from_cents(5)),
        tokens,
        time: Duration::from_secs(3),
    }
}

/// How long a step of work takes.
const STEP: Duration = Duration::from_millis(10);

#[async_trait]
impl JobRunner for HandleJob {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let does = run.input["does"].as_str();
        desk.report(match does {
            Some("panic" | "stubborn") => paid(),
            _ => halfway(),
        });
        match does {
            Some("alert") => {
                (self.raise)(&alert(HarnessId::new(run.id.as_str())));
                RunOutcome::succeeded(json!(null))
            }
            Some("give") => RunOutcome::succeeded(run.input["value"].clone()),
            Some("fail") => RunOutcome::failed(Failure::permanent("no_luck", "it was not to be")),
            Some("panic") => std::panic::panic_any("as it was told to"),
            Some("collect") => {
                let count = run.input["count"].as_u64().unwrap_or_default();
                collect(desk, usize::try_from(count).unwrap_or_default()).await
            }
            Some("count") => count(desk).await,
            // It does not mind whether it is cancelled, and works on.
            Some("stubborn") => {
                let mut at = paid();
                loop {
                    step(desk, &mut at).await;
                }
            }
            _ => {
                desk.control().cancelled().await;
                RunOutcome::cancelled("it was told to end")
            }
        }
    }
}

/// Works step by step, and holds as long as it is to.
async fn count(desk: &RunDesk) -> RunOutcome {
    let (mut at, mut is_paused) = (halfway(), false);
    loop {
        let request = match is_paused {
            true => tokio::select! {
                () = desk.control().cancelled() => None,
                request = desk.control().next_request() => Some(request),
            },
            false => desk.control().waiting_request(),
        };
        match request {
            Some(RunRequest::Pause) => is_paused = true,
            Some(RunRequest::Resume) => is_paused = false,
            Some(RunRequest::Say(message)) => message.settle(),
            None => {}
        }
        if desk.control().is_cancelled() {
            return RunOutcome::cancelled("it was told to end");
        }
        if !is_paused {
            step(desk, &mut at).await;
        }
    }
}

async fn step(desk: &RunDesk, at: &mut RunProgress) {
    tokio::time::sleep(STEP).await;
    at.iteration += 1;
    desk.report(at.clone());
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
