//! Roles of this program when a test starts it again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::run::{RunMessage, RunRequest};
use autonoe_harness::MemberServer;
use autonoe_harness::folder::{FolderError, MemberFolder};
use autonoe_process::ProcessRunner;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::handles::fixture::{DEADLINE, OFTEN};
use crate::handles::job::{HANDLE_JOB, HandleJob};

/// Makes this program a member, whose folder is its last argument.
pub(crate) const IS_MEMBER: &str = "AUTONOE_TEST_MEMBER";

#[test]
fn member() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let Some(_) = std::env::var_os(IS_MEMBER) else {
        // Not started as a member: there is nothing to serve, and that is an error.
        let nowhere = tempfile::tempdir().expect("a folder");
        let folder = MemberFolder::from_path(&nowhere.path().join("a")).expect("an id");
        let served = runtime.block_on(MemberServer::new(folder, Arc::new(Jobs)).run());
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    };
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = MemberFolder::from_path(&folder).expect("an id");
    let served = runtime.block_on(async {
        let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
        let leave = async move {
            interrupted.recv().await;
        };
        let serving = MemberServer::new(folder, Arc::new(Jobs)).every(OFTEN);
        serving
            .shutdown_signal(leave, Duration::from_secs(5))
            .run()
            .await
    });
    served.expect("it can be served");
}

/// All jobs of the members in the tests.
pub(crate) struct Jobs;

#[async_trait]
impl JobRunner for Jobs {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        match run.job.as_str() {
            HANDLE_JOB => {
                let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
                let root = folder.parent().expect("a folder of folders");
                HandleJob::in_folders(root).run(run, context).await
            }
            "turns" => turns(run, context).await,
            "careless" => careless(run, context).await,
            "tree" => tree(run, context).await,
            "until" => until(run).await,
            "secret" => RunOutcome::succeeded(json!(std::env::var("SECRET").ok())),
            "crash" => std::process::abort(),
            job => panic!("there is no job {job}"),
        }
    }
}

/// A recorded turn.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) pid: u32,
    pub(crate) id: Option<String>,
    pub(crate) text: String,
}

/// Returns the turns recorded in `path`, without a partial line left by a kill.
pub(crate) fn recorded(path: &Path) -> Vec<Turn> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let lines = text[..whole].lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn record(path: &Path, turn: &Turn) {
    let line = format!("\n{}\n", serde_json::to_string(turn).expect("a turn"));
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("writable");
    file.write_all(line.as_bytes()).expect("writable");
    file.sync_data().expect("writable");
}

async fn next_message(context: &JobContext) -> RunMessage {
    loop {
        if let RunRequest::Instruct(message) = context.control().next_request().await {
            return message;
        }
    }
}

/// Runs a turn for each instruction, recorded with its ID before it is settled, until there were
/// enough.
async fn turns(run: &RunSpec, context: &JobContext) -> RunOutcome {
    let path = PathBuf::from(run.input["turns"].as_str().expect("a path"));
    let count = run.input["count"].as_u64().expect("a number");
    loop {
        let before = recorded(&path);
        if before.len() as u64 >= count {
            return RunOutcome::succeeded(json!(before.len()));
        }
        tokio::select! {
            () = context.control().cancelled() => return RunOutcome::cancelled("cancelled"),
            message = next_message(context) => {
                let id = message.id().map(str::to_owned);
                if !before.iter().any(|turn| turn.id == id) {
                    let text = message.text().to_owned();
                    record(&path, &Turn { pid: std::process::id(), id, text });
                }
                message.acknowledge();
            }
        }
    }
}

/// Records each instruction at once, and settles it when the file `go-on` exists.
async fn careless(run: &RunSpec, context: &JobContext) -> RunOutcome {
    let folder = PathBuf::from(run.input["folder"].as_str().expect("a path"));
    let mut received = Vec::new();
    loop {
        let message = next_message(context).await;
        let (pid, id) = (std::process::id(), message.id().map(str::to_owned));
        let text = message.text().to_owned();
        record(&folder.join("turns"), &Turn { pid, id, text });
        while !folder.join("go-on").exists() {
            tokio::time::sleep(OFTEN).await;
        }
        received.push(message.text().to_owned());
        message.acknowledge();
        if received.last().is_some_and(|text| text == "end") {
            return RunOutcome::succeeded(json!(received));
        }
    }
}

/// Waits until a file exists.
async fn until(run: &RunSpec) -> RunOutcome {
    let path = PathBuf::from(run.input["file"].as_str().expect("a path"));
    while !path.exists() {
        tokio::time::sleep(OFTEN).await;
    }
    RunOutcome::succeeded(json!("it is there"))
}

/// Starts tools that ignore signals and detach from their parents, and waits.
async fn tree(run: &RunSpec, context: &JobContext) -> RunOutcome {
    let folder = PathBuf::from(run.input["folder"].as_str().expect("a path"));
    let script = r#"
        trap "" TERM INT HUP
        setsid bash -c 'trap "" TERM INT HUP; echo $$ >detached.new; mv detached.new detached; while :; do sleep 1; done' &
        bash -c '(setsid bash -c "trap \"\" TERM INT HUP; echo \$\$ >orphan.new; mv orphan.new orphan; while :; do sleep 1; done" &)'
        echo $$ >child.new; mv child.new child
        while :; do sleep 1; done
    "#;
    // With an environment of its own, like every process in production.
    let path = std::env::var_os("PATH").expect("set");
    let commands = ProcessRunner::unconfined(folder).env("PATH", path);
    let command = ["bash", "-c", script].map(str::to_owned);
    let working = commands.run(&command, DEADLINE);
    if run.input["stubborn"] == json!(true) {
        let ended = working.await;
        panic!("only a kill ends it: {ended:?}");
    }
    tokio::select! {
        ended = working => panic!("it does not end by itself: {ended:?}"),
        () = context.control().cancelled() => RunOutcome::cancelled("cancelled"),
    }
}
