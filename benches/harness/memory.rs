//! Memory of waiting agents.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, LocalEngine, Placement, RunSpec};
use autonoe_harness::folder::MemberStatus;
use autonoe_harness::{MemberCommand, MemberManager};
use serde_json::Value;
use tokio::runtime::Builder;

use crate::child_process::{IDLE, SERVE, Waits};
use crate::resident::{own_kib, proportional_kib, resident_kib};
use crate::stats::Spread;
use crate::thousand::{Members, hanging};

/// Argument of a process that measures its own growth; the kind and the count follow.
pub(crate) const GROW: &str = "grow";

/// Longer than anything in this benchmark takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The kinds of agents that are created many times in one process.
const KINDS: [(&str, &str); 3] = [
    ("task", "a plain task of tokio"),
    ("run", "a run on `LocalEngine`"),
    (
        "agent",
        "a `TaskLoop` on `LocalEngine`, in a scripted session",
    ),
];

pub(crate) fn measure(testing: bool) {
    let (count, processes) = if testing { (20, 2) } else { (1_000, 8) };
    println!("| an agent that waits | KiB each |");
    println!("| --- | --- |");
    for (kind, words) in KINDS {
        println!(
            "| {words}, of {count} in one process, RSS | {} |",
            growth(kind, count)
        );
    }
    of_processes(processes);
}

/// Measures in a fresh process, so that earlier allocations do not count.
fn growth(kind: &str, count: usize) -> String {
    let program = std::env::current_exe().expect("this program");
    let grown = Command::new(program)
        .args([GROW, kind, &count.to_string()])
        .output()
        .expect("it starts");
    assert!(grown.status.success(), "{grown:?}");
    String::from_utf8_lossy(&grown.stdout).trim().to_owned()
}

pub(crate) fn print_growth(kind: &str, count: &str) {
    let count: usize = count.parse().expect("a number");
    let runtime = Builder::new_current_thread().enable_all().build();
    let kib = runtime.expect("a runtime").block_on(grow(kind, count));
    println!("{kib:.1}");
}

/// Returns the memory that each of `count` agents adds to this process, after the first few.
async fn grow(kind: &str, count: usize) -> f64 {
    const FIRST: usize = 10;
    let engine = LocalEngine::new(Arc::new(Waits));
    let members = Members::new(|_| hanging());
    let agents = LocalEngine::new(Arc::new(members.clone()));
    let mut before = 0;
    for number in 0..FIRST + count {
        if number == FIRST {
            settle().await;
            before = own_kib();
        }
        let run = |input| RunSpec::new(RunId::new(format!("m{number}")), "wait", input);
        match kind {
            "task" => drop(tokio::spawn(std::future::pending::<()>())),
            "run" => {
                let submitted = engine.submit(run(Value::Null), Placement::anywhere()).await;
                submitted.expect("it is taken");
            }
            "agent" => {
                let order = members.order(number);
                let submitted = agents.submit(run(order), Placement::anywhere()).await;
                submitted.expect("it is taken");
            }
            other => panic!("there is no kind {other}"),
        }
    }
    if kind == "agent" {
        let started = Instant::now();
        while members.at_work() < FIRST + count {
            assert!(started.elapsed() < PATIENCE, "they do not begin");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    settle().await;
    own_kib().saturating_sub(before) as f64 / count as f64
}

/// Lets all tasks reach the point where they wait.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

fn of_processes(count: usize) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let program = std::env::current_exe().expect("this program");
    let (rss, pss) = runtime.block_on(members(&program, count));
    let (bare_rss, bare_pss) = bare(&program, count);
    println!("| a member of {count}, a process each, RSS | {rss} |");
    println!("| such a process that serves nothing, RSS | {bare_rss} |");
    println!("| a member of {count}, a process each, PSS | {pss} |");
    println!("| such a process that serves nothing, PSS | {bare_pss} |");
}

async fn members(program: &Path, count: usize) -> (Spread, Spread) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join(".harness");
    let manager = MemberManager::new(root, MemberCommand::new(program).args([SERVE]));
    let mut pids = Vec::new();
    for number in 0..count {
        let order = RunSpec::new(RunId::new(format!("m{number}")), "wait", Value::Null);
        let handle = manager.spawn(order).await.expect("it starts");
        let started = Instant::now();
        let pid = loop {
            let view = handle.folder().view().expect("readable");
            match (view.status, view.pid) {
                (MemberStatus::Running, Some(pid)) => break pid,
                _ => assert!(started.elapsed() < PATIENCE, "it does not begin: {view:?}"),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        pids.push(pid.to_string());
    }
    let found = both(&pids);
    for number in 0..count {
        let run = RunId::new(format!("m{number}"));
        manager
            .cancel(&run, "it was measured")
            .await
            .expect("it is told");
        manager.wait(&run).await.expect("it ends");
    }
    found
}

fn bare(program: &Path, count: usize) -> (Spread, Spread) {
    let mut all: Vec<_> = (0..count)
        .map(|_| {
            let mut command = Command::new(program);
            command.arg(IDLE).stdin(Stdio::piped());
            command.spawn().expect("it starts")
        })
        .collect();
    // A waiting process prints nothing; by then its memory has settled.
    std::thread::sleep(Duration::from_millis(500));
    let pids: Vec<_> = all.iter().map(|child| child.id().to_string()).collect();
    let found = both(&pids);
    for child in &mut all {
        drop(child.stdin.take());
        child.wait().expect("it ends");
    }
    found
}

fn both(pids: &[String]) -> (Spread, Spread) {
    let spread = |measure: fn(&str) -> Option<u64>| {
        let figures = pids
            .iter()
            .map(|pid| measure(pid).expect("it lives") as f64);
        Spread::new(figures)
    };
    (spread(resident_kib), spread(proportional_kib))
}
