//! What this program does when a test starts it again.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{JobRunner, RunDesk, RunMessage, RunOutcome, RunRequest, RunSpec};
use autonoe_harness::conformance::{HANDLE_JOB, HandleJob};
use autonoe_harness::{FolderError, HarnessFolder, Serving};
use autonoe_process::Commands;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::handles::stage::{DEADLINE, OFTEN};

/// Says to this program that it is a sub-harness, whose folder is its last argument.
pub(crate) const SUB_HARNESS: &str = "AUTONOE_TEST_SUB_HARNESS";

#[test]
fn sub_harness() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let Some(_) = std::env::var_os(SUB_HARNESS) else {
        // Not started as one: there is nothing to serve, and that is an error.
        let nowhere = tempfile::tempdir().expect("a folder");
        let folder = HarnessFolder::at(&nowhere.path().join("a")).expect("an id");
        let served = runtime.block_on(Serving::new(folder, Arc::new(Jobs)).run());
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    };
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = HarnessFolder::at(&folder).expect("an id");
    let served = runtime.block_on(async {
        let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
        let leave = async move {
            interrupted.recv().await;
        };
        let serving = Serving::new(folder, Arc::new(Jobs)).every(OFTEN);
        serving.until(leave, Duration::from_secs(5)).run().await
    });
    served.expect("it can be served");
}

/// All that sub-harnesses of the tests do.
pub(crate) struct Jobs;

#[async_trait]
impl JobRunner for Jobs {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        match run.job.as_str() {
            HANDLE_JOB => {
                let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
                let root = folder.parent().expect("a folder of folders");
                HandleJob::in_folders(root).run(run, desk).await
            }
            "turns" => turns(run, desk).await,
            "careless" => careless(run, desk).await,
            "tree" => tree(run, desk).await,
            "until" => until(run).await,
            "secret" => RunOutcome::succeeded(json!(std::env::var("SECRET").ok())),
            "crash" => std::process::abort(),
            job => panic!("there is no job {job}"),
        }
    }
}

/// One turn, as it is recorded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) pid: u32,
    pub(crate) id: Option<String>,
    pub(crate) text: String,
}

/// Returns the turns that were recorded in `path`; what a kill left of a line is none.
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

async fn next_message(desk: &RunDesk) -> RunMessage {
    loop {
        if let RunRequest::Say(message) = desk.control().next_request().await {
            return message;
        }
    }
}

/// A turn for each instruction, recorded with its id before it is settled, until there were enough.
async fn turns(run: &RunSpec, desk: &RunDesk) -> RunOutcome {
    let path = PathBuf::from(run.input["turns"].as_str().expect("a path"));
    let count = run.input["count"].as_u64().expect("a number");
    loop {
        let before = recorded(&path);
        if before.len() as u64 >= count {
            return RunOutcome::succeeded(json!(before.len()));
        }
        tokio::select! {
            () = desk.control().cancelled() => return RunOutcome::cancelled("cancelled"),
            message = next_message(desk) => {
                let id = message.id().map(str::to_owned);
                if !before.iter().any(|turn| turn.id == id) {
                    let text = message.text().to_owned();
                    record(&path, &Turn { pid: std::process::id(), id, text });
                }
                message.settle();
            }
        }
    }
}

/// Records each instruction as soon as it has it, and settles it when the file `go-on` is there.
async fn careless(run: &RunSpec, desk: &RunDesk) -> RunOutcome {
    let folder = PathBuf::from(run.input["folder"].as_str().expect("a path"));
    let mut told = Vec::new();
    loop {
        let message = next_message(desk).await;
        let (pid, id) = (std::process::id(), message.id().map(str::to_owned));
        let text = message.text().to_owned();
        record(&folder.join("turns"), &Turn { pid, id, text });
        while !folder.join("go-on").exists() {
            tokio::time::sleep(OFTEN).await;
        }
        told.push(message.text().to_owned());
        message.settle();
        if told.last().is_some_and(|text| text == "end") {
            return RunOutcome::succeeded(json!(told));
        }
    }
}

/// Waits until there is a file.
async fn until(run: &RunSpec) -> RunOutcome {
    let path = PathBuf::from(run.input["file"].as_str().expect("a path"));
    while !path.exists() {
        tokio::time::sleep(OFTEN).await;
    }
    RunOutcome::succeeded(json!("it is there"))
}

/// Starts tools that do not listen to signals and go away from their parents, and waits.
async fn tree(run: &RunSpec, desk: &RunDesk) -> RunOutcome {
    let folder = PathBuf::from(run.input["folder"].as_str().expect("a path"));
    let script = r#"
        trap "" TERM INT HUP
        setsid bash -c 'trap "" TERM INT HUP; echo $$ >detached.new; mv detached.new detached; while :; do sleep 1; done' &
        bash -c '(setsid bash -c "trap \"\" TERM INT HUP; echo \$\$ >orphan.new; mv orphan.new orphan; while :; do sleep 1; done" &)'
        echo $$ >child.new; mv child.new child
        while :; do sleep 1; done
    "#;
    // As everything in production is started: with an environment of its own.
    let path = std::env::var_os("PATH").expect("set");
    let commands = Commands::unconfined(folder).env("PATH", path);
    let command = ["bash", "-c", script].map(str::to_owned);
    let working = commands.run(&command, DEADLINE);
    if run.input["stubborn"] == json!(true) {
        let ended = working.await;
        panic!("nobody ends it but a kill: {ended:?}");
    }
    tokio::select! {
        ended = working => panic!("it does not end by itself: {ended:?}"),
        () = desk.control().cancelled() => RunOutcome::cancelled("cancelled"),
    }
}
