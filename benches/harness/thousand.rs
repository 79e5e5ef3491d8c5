//! A thousand agents in one process, from the coordinator down to scripted sessions, compared with
//! the same executions without a harness.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::RunControl;
use autonoe_core::engine::{JobContext, JobRunner, LocalEngine, RunOutcome, RunSpec};
use autonoe_core::gate::policy::Verdict;
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::coordinate::{MemberJob, MemberSpec};
use autonoe_harness::executor::FileCriterion;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{Isolation, WorkOrder};
use autonoe_harness::{
    AgentExecutor, Coordinator, Execution, Executor, Executors, Parallel, Task, TaskLoop,
};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::resident::own_kib;
use crate::stats::{Spread, micros, timed};

pub(crate) fn measure(testing: bool) {
    let (members, rounds) = if testing { (10, 1) } else { (1_000, 5) };
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let before = own_kib();
    let (mut autonoe, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        autonoe.push(micros(coordinated(&runtime, members)) / 1e3);
        alone.push(micros(executed(&runtime, members)) / 1e3);
    }
    println!("| {members} agents at once, a task each | figure |");
    println!("| --- | --- |");
    let figures = [
        (
            "with `Coordinator`, `LocalEngine` and `TaskLoop`, ms",
            &autonoe,
        ),
        ("the same executions and checks as plain tasks, ms", &alone),
    ];
    for (label, figures) in figures {
        println!("| {label} | {} |", Spread::new(figures.iter().copied()));
    }
    println!("| ratio | {} |", Spread::from_ratios(&autonoe, &alone));
    let most = peak_kib().unwrap_or_default();
    println!("| resident memory, before and at most | {before} KiB, {most} KiB |");
}

/// Members that play one script each, in their own folders.
#[derive(Clone)]
pub(crate) struct Members {
    folder: Arc<TempDir>,
    script: fn(usize) -> SessionScript,
    agents: Arc<Mutex<Vec<Arc<ScriptedBackend>>>>,
}

impl Members {
    pub(crate) fn new(script: fn(usize) -> SessionScript) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            folder: Arc::new(folder),
            script,
            agents: Arc::default(),
        }
    }

    /// Returns the order of one member as JSON, for a run without a coordinator.
    pub(crate) fn order(&self, number: usize) -> Value {
        let work = json!({ "number": number, "order": work_order() });
        json!({ "member": number.to_string(), "work": work })
    }

    /// Returns the number of running sessions.
    pub(crate) fn at_work(&self) -> usize {
        let agents = self.agents.lock().expect("a lock");
        agents.iter().map(|agents| agents.open_clients()).sum()
    }

    fn executor(&self, number: usize) -> (AgentExecutor, PathBuf) {
        let folder = self.folder.path().join(number.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        let agents = ScriptedBackend::new([(self.script)(number)]).unverified();
        let agents = Arc::new(agents);
        self.agents.lock().expect("a lock").push(agents.clone());
        let executor = AgentExecutor::new("scripted", agents, &folder)
            .sessions(|builder| builder.bash_security(|_: &str| Verdict::Allow));
        (executor, folder)
    }
}

#[async_trait]
impl JobRunner for Members {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let job = MemberJob::from_run(run).expect("a member");
        let number = job.work["number"].as_u64().expect("a number");
        let (executor, folder) = self.executor(number as usize);
        let work = TaskLoop::new(folder, move |folder: &Path| {
            Executors::default().executor(Arc::new(executor.clone().root(folder)))
        });
        let run = RunSpec::new(run.id.clone(), "work", job.work["order"].clone());
        work.run(&run, context).await
    }
}

fn task() -> Task {
    let task = Task::new("T-1", "Write out.txt.").expect("an id");
    task.success_criteria(FileCriterion::new("out.txt"))
}

fn work_order() -> WorkOrder {
    WorkOrder::new([task()], Isolation::Shared)
}

/// A session of a dozen events that completes its task.
fn writing(_: usize) -> SessionScript {
    SessionScript::new("works")
        .thinks("what is next?")
        .says("I look at the code.")
        .uses_tool("Read", json!({"file_path": "src/main.rs"}))
        .uses_tool("Bash", json!({"command": "ls"}))
        .performs(|folder| std::fs::write(folder.join("out.txt"), "done\n").expect("a file"))
        .says("I have written it.")
        .ends()
}

/// A session that waits forever.
pub(crate) fn hanging() -> SessionScript {
    SessionScript::new("waits").says("I begin.").hangs()
}

fn coordinated(runtime: &Runtime, members: usize) -> std::time::Duration {
    let runner = Members::new(writing);
    let orders: Vec<_> = (0..members).map(|number| runner.order(number)).collect();
    let engine = Arc::new(LocalEngine::new(Arc::new(runner)));
    let (elapsed, report) = timed(|| {
        runtime.block_on(async {
            let members = orders.into_iter().enumerate().map(|(number, mut order)| {
                let id = MemberId::new(format!("m{number:04}"));
                MemberSpec::new(id, "work", order["work"].take())
            });
            Coordinator::new("bench", engine, Parallel {})
                .members(members)
                .max_concurrent(NonZeroUsize::MAX)
                .run(&RunControl::new())
                .await
        })
    });
    let report = report.expect("it begins");
    assert!(report.success, "{:?}", report.results.first());
    elapsed
}

/// Executes and verifies the same tasks with plain tokio tasks.
fn executed(runtime: &Runtime, members: usize) -> std::time::Duration {
    let runner = Members::new(writing);
    let (elapsed, ()) = timed(|| {
        runtime.block_on(async {
            let mut all = JoinSet::new();
            for number in 0..members {
                let runner = runner.clone();
                all.spawn(async move {
                    let (executor, _) = runner.executor(number);
                    let executed = executor.run(&task(), &Execution::default()).await;
                    let result = executed.expect("the task is right");
                    executor
                        .verify_success(&task(), &result, &VerificationBudget::default())
                        .await
                });
            }
            while let Some(verified) = all.join_next().await {
                assert!(verified.expect("no panic").is_success());
            }
        });
    });
    elapsed
}

fn peak_kib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
