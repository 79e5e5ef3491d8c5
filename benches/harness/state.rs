//! Durable changes of the state by several agents at once, each with a connection of its own,
//! against the same changes with SQLite alone.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use autonoe_harness::{
    Claimant, ExecutionEnd, ExecutionRecord, ExecutionResult, HarnessId, HarnessPlan, SqliteState,
    StateStore, Task, TaskEnd, TaskPlan,
};
use jiff::Timestamp;
use tokio::runtime::Builder;

use crate::figures::Spread;
use crate::raw::Raw;

/// What an agent says in an execution.
pub(crate) const OUTPUT: &str = "I looked at the parser, wrote the missing case and its test.";

/// What is done with the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A task is claimed and then finished: two changes.
    Claims,
    /// An execution is logged: one change.
    Log,
}

impl Change {
    fn words(self) -> &'static str {
        match self {
            Self::Claims => "`claim_next` and `finish`",
            Self::Log => "`log_execution`",
        }
    }

    /// How many transactions it takes.
    fn writes(self) -> usize {
        match self {
            Self::Claims => 2,
            Self::Log => 1,
        }
    }
}

pub(crate) fn measure(testing: bool) {
    let (agents, rounds): (&[usize], usize) = match testing {
        true => (&[1, 2], 1),
        false => (&[1, 8, 64], 5),
    };
    let total = if testing { 8 } else { 1_024 };
    println!(
        "| durable changes/s | agents, each with a connection | `SqliteState` | SQLite alone | ratio |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for change in [Change::Claims, Change::Log] {
        for &agents in agents {
            let each = total / agents;
            let writes = (change.writes() * each * agents) as f64;
            let (mut ours, mut alone) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                ours.push(writes / with_state(change, agents, each).as_secs_f64());
                alone.push(writes / with_sqlite(change, agents, each).as_secs_f64());
            }
            println!(
                "| {} | {agents} | {} | {} | {} |",
                change.words(),
                Spread::of(ours.iter().copied()),
                Spread::of(alone.iter().copied()),
                Spread::of_ratios(&ours, &alone),
            );
        }
    }
}

pub(crate) fn task_name(number: usize) -> String {
    format!("T-{number:05}")
}

/// Lets all agents begin at once, on threads of their own, and returns how long they took.
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
    let begun = Instant::now();
    for thread in threads {
        thread.join().expect("no panic");
    }
    begun.elapsed()
}

fn with_state(change: Change, agents: usize, each: usize) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let now = Timestamp::UNIX_EPOCH;
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let tasks = (0..agents * each).map(|number| {
        let task = Task::new(&task_name(number), "Do it.").expect("an id");
        TaskPlan::new(task)
    });
    let plan = HarnessPlan::new(HarnessId::new("bench"), tasks);
    runtime.block_on(async {
        let state = SqliteState::open(&path).await.expect("it opens");
        state.init_harness(&plan, now).await.expect("it is kept");
    });
    let took = together(agents, |agent| {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let state = runtime.block_on(SqliteState::open(&path));
        let state = state.expect("it opens");
        Box::new(move || runtime.block_on(work(&state, change, agent, each)))
    });
    let left = runtime.block_on(async {
        let state = SqliteState::open(&path).await.expect("it opens");
        state.get_incomplete_tasks().await.expect("it is read")
    });
    let expected = if change == Change::Claims {
        0
    } else {
        agents * each
    };
    assert_eq!(left.len(), expected);
    took
}

async fn work(state: &SqliteState, change: Change, agent: usize, each: usize) {
    let now = Timestamp::UNIX_EPOCH;
    let claimant = Claimant::new(format!("agent-{agent}"));
    for number in 0..each {
        match change {
            Change::Claims => {
                let claim = state.claim_next(&claimant, now).await.expect("it is kept");
                let claim = claim.expect("there are enough");
                let end = TaskEnd::completed(OUTPUT);
                state.finish(&claim, &end, now).await.expect("it is kept");
            }
            Change::Log => {
                let name = task_name(agent * each + number);
                let task = Task::new(&name, "Do it.").expect("an id");
                let mut result = ExecutionResult::new(&task, "codex", ExecutionEnd::Completed);
                result.output = OUTPUT.to_owned();
                let record = ExecutionRecord::of(1, &result);
                state.log_execution(&record).await.expect("it is kept");
            }
        }
    }
}

fn with_sqlite(change: Change, agents: usize, each: usize) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("raw.db");
    Raw::make(&path, agents * each);
    let took = together(agents, |agent| {
        let mut raw = Raw::open(&path);
        Box::new(move || {
            for number in agent * each..(agent + 1) * each {
                raw.change(change, number);
            }
        })
    });
    assert!(size(&path) > 0);
    took
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
