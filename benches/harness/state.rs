//! Durable state changes by several agents at once, each with its own connection, compared with the
//! same changes in SQLite alone.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use autonoe_harness::executor::ExecutionOutcome;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::state::{ExecutionRecord, MemberPlan, SqliteState};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{ExecutionReport, Task};
use jiff::Timestamp;
use tokio::runtime::Builder;

use crate::raw::Raw;
use crate::stats::Spread;

/// The output of an agent in an execution.
pub(crate) const OUTPUT: &str = "I looked at the parser, wrote the missing case and its test.";

pub(crate) fn measure(testing: bool) {
    let (agents, rounds): (&[usize], usize) = if testing {
        (&[1, 2], 1)
    } else {
        (&[1, 8, 64], 5)
    };
    let total = if testing { 8 } else { 1_024 };
    println!(
        "| durable changes/s | agents, each with a connection | `SqliteState` | SQLite alone | ratio |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for &agents in agents {
        let each = total / agents;
        let writes = (each * agents) as f64;
        let (mut autonoe, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            autonoe.push(writes / with_state(agents, each).as_secs_f64());
            alone.push(writes / with_sqlite(agents, each).as_secs_f64());
        }
        println!(
            "| `log_execution` | {agents} | {} | {} | {} |",
            Spread::new(autonoe.iter().copied()),
            Spread::new(alone.iter().copied()),
            Spread::from_ratios(&autonoe, &alone),
        );
    }
}

pub(crate) fn task_name(number: usize) -> String {
    format!("T-{number:05}")
}

/// Starts all agents at once on their own threads, and returns how long they took.
fn together(agents: usize, agent: impl Fn(usize) -> Box<dyn FnOnce() + Send>) -> Duration {
    let start = Arc::new(Barrier::new(agents + 1));
    let threads: Vec<_> = (0..agents)
        .map(|number| {
            let (start, work) = (start.clone(), agent(number));
            std::thread::spawn(move || {
                start.wait();
                work();
            })
        })
        .collect();
    start.wait();
    let started = Instant::now();
    for thread in threads {
        thread.join().expect("no panic");
    }
    started.elapsed()
}

fn with_state(agents: usize, each: usize) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let now = Timestamp::UNIX_EPOCH;
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let tasks = (0..agents * each).map(|number| {
        let task = Task::new(&task_name(number), "Do it.").expect("an id");
        PlannedTask::new(task)
    });
    let plan = MemberPlan::new(MemberId::new("bench"), tasks);
    runtime.block_on(async {
        let state = SqliteState::open(&path).await.expect("it opens");
        state.init_member(&plan, now).await.expect("it is kept");
    });
    together(agents, |agent| {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let state = runtime.block_on(SqliteState::open(&path));
        let state = state.expect("it opens");
        Box::new(move || runtime.block_on(work(&state, agent, each)))
    })
}

async fn work(state: &SqliteState, agent: usize, each: usize) {
    for number in 0..each {
        let name = task_name(agent * each + number);
        let task = Task::new(&name, "Do it.").expect("an id");
        let mut result = ExecutionReport::new(&task, "codex", ExecutionOutcome::Completed);
        result.output = OUTPUT.to_owned();
        let record = ExecutionRecord::from_result(1, &result);
        state.log_execution(&record).await.expect("it is kept");
    }
}

fn with_sqlite(agents: usize, each: usize) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("raw.db");
    Raw::create(&path, agents * each);
    let elapsed = together(agents, |agent| {
        let mut raw = Raw::open(&path);
        Box::new(move || {
            for number in agent * each..(agent + 1) * each {
                raw.log(number);
            }
        })
    });
    assert!(size(&path) > 0);
    elapsed
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
