//! Job of the members in the checks of handles.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::CostUsd;
use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunProgress, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::run::RunRequest;
use autonoe_harness::alert::{Alert, Severity};
use autonoe_harness::folder::MemberFolder;
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;
use serde_json::json;

/// Name of the job.
pub(crate) const HANDLE_JOB: &str = "handle";

/// Behaves as the input of its order selects.
#[derive(Clone, Debug)]
pub(crate) struct HandleJob {
    root: PathBuf,
}

impl HandleJob {
    /// Creates the job of members with folders below `root`.
    pub(crate) fn in_folders(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root }
    }

    fn raise(&self, alert: &Alert) {
        let id = alert.member.as_ref().expect("it is about a member");
        let folder = MemberFolder::new(&self.root, id).expect("an id");
        folder.alert_log().append(alert).expect("writable");
    }
}

/// The alert that a run raises.
pub(crate) fn alert(id: MemberId) -> Alert {
    Alert::new(
        "conformance",
        Severity::Warning,
        "look at this",
        Timestamp::UNIX_EPOCH,
    )
    .member(id)
    .iteration(2)
    .detail("deep", json!([1, null]))
}

/// The working directory that a run reports.
pub(crate) fn working_dir() -> PathBuf {
    PathBuf::from("/a project/with/a worktree")
}

/// The progress that a run reports after its start.
pub(crate) fn halfway() -> RunProgress {
    let mut at = RunProgress::new(0.5);
    at.task = Some("half of it".to_owned());
    at.iteration = 2;
    at.working_dir = Some(working_dir());
    at
}

/// The progress that a run with spending reports.
fn paid() -> RunProgress {
    let mut at = halfway();
    at.spent = spent();
    at
}

/// The spending that a run reports.
pub(crate) fn spent() -> BudgetUsage {
    let tokens = TokenUsage {
        input: 7,
        ..TokenUsage::default()
    };
    BudgetUsage {
        cost: CostTotal::known(CostUsd::from_cents(5)),
        tokens,
        time: Duration::from_secs(3),
    }
}

/// Duration of a step of work.
const STEP: Duration = Duration::from_millis(10);

#[async_trait]
impl JobRunner for HandleJob {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let does = run.input["does"].as_str();
        context.report(match does {
            Some("panic" | "stubborn") => paid(),
            _ => halfway(),
        });
        match does {
            Some("alert") => {
                self.raise(&alert(MemberId::new(run.id.as_str())));
                RunOutcome::succeeded(json!(null))
            }
            Some("give") => RunOutcome::succeeded(run.input["value"].clone()),
            Some("fail") => RunOutcome::failed(Failure::permanent("no_luck", "it was not to be")),
            Some("panic") => std::panic::panic_any("as requested"),
            Some("collect") => {
                let count = run.input["count"].as_u64().unwrap_or_default();
                collect(context, usize::try_from(count).unwrap_or_default()).await
            }
            Some("count") => count(context).await,
            Some("ask") => {
                let mut at = halfway();
                at.question = Some("Which place?".to_owned());
                context.report(at);
                collect(context, 1).await
            }
            // It ignores its cancellation, and continues to work.
            Some("stubborn") => {
                let mut at = paid();
                loop {
                    step(context, &mut at).await;
                }
            }
            _ => {
                context.control().cancelled().await;
                RunOutcome::cancelled("it was cancelled")
            }
        }
    }
}

/// Works step by step, and pauses when requested.
async fn count(context: &JobContext) -> RunOutcome {
    let (mut at, mut is_paused) = (halfway(), false);
    loop {
        let request = if is_paused {
            tokio::select! {
                () = context.control().cancelled() => None,
                request = context.control().next_request() => Some(request),
            }
        } else {
            context.control().try_next_request()
        };
        match request {
            Some(RunRequest::Pause) => is_paused = true,
            Some(RunRequest::Resume) => is_paused = false,
            Some(RunRequest::Instruct(message)) => message.acknowledge(),
            None => {}
        }
        if context.control().is_cancelled() {
            return RunOutcome::cancelled("it was cancelled");
        }
        if !is_paused {
            step(context, &mut at).await;
        }
    }
}

async fn step(context: &JobContext, at: &mut RunProgress) {
    tokio::time::sleep(STEP).await;
    at.iteration += 1;
    context.report(at.clone());
}

/// Receives this many messages and returns them.
async fn collect(context: &JobContext, count: usize) -> RunOutcome {
    let mut received = Vec::new();
    while received.len() < count {
        tokio::select! {
            () = context.control().cancelled() => return RunOutcome::cancelled("it was cancelled"),
            command = context.control().next_request() => received.push(match command {
                RunRequest::Pause => "(pause)".to_owned(),
                RunRequest::Resume => "(resume)".to_owned(),
                RunRequest::Instruct(message) => {
                    let text = message.text().to_owned();
                    message.acknowledge();
                    text
                }
            }),
        }
    }
    RunOutcome::succeeded(json!(received))
}
