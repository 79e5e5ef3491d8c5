//! A fleet in this process, with a strategy of one's own: a small model tries first, and a large one
//! only if it must.
//!
//! Scripted agents stand in for the models. Run it with `cargo run -p autonoe-harness --example fleet`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::{CostUsd, RunControl};
use autonoe_harness::{
    AgentExecutor, Decision, Executors, FileCriterion, Fleet, FleetHome, FleetMember, FleetOrder,
    FleetRun, HarnessId, HarnessManager, Isolation, MemberWork, Order, Strategy, Task, WorkOrder,
};
use autonoe_testkit::{ScriptedAgents, SessionScript, TempProject};
use serde::{Deserialize, Serialize};

/// One member after the other works, until one succeeds. It is asked again after every change, and
/// says what is to be done; it does nothing itself.
#[derive(Debug, Serialize, Deserialize)]
struct OneAfterTheOther {}

#[typetag::serde(name = "example-one-after-the-other")]
impl Strategy for OneAfterTheOther {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        if let Some(done) = fleet.successes().next() {
            return vec![Order::Finish(Decision::won_by(done))];
        }
        match fleet.waiting().next() {
            _ if fleet.is_at_work() => Vec::new(),
            Some(next) => vec![Order::start(next)],
            None => vec![Order::Finish(Decision::failed())],
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = TempProject::new();
    let home = FleetHome::of(project.path());
    let small = SessionScript::new("small")
        .says("I have written it.")
        .costs(CostUsd::from_cents(1))
        .ends();
    let large = SessionScript::new("large")
        .does(|folder| fs::write(folder.join("greeting.txt"), "Hello.\n").expect("a file"))
        .says("It is there now.")
        .costs(CostUsd::from_cents(20))
        .ends();
    let (small, large) = (ScriptedAgents::new([small]), ScriptedAgents::new([large]));
    let (small, large) = (Arc::new(small), Arc::new(large));

    // What does a member's tasks, in the folder of the project or in a worktree.
    let workshop = move |folder: &Path| {
        Executors::default()
            .with(AgentExecutor::new("small", small.clone(), folder))
            .with(AgentExecutor::new("large", large.clone(), folder))
    };
    // Members are tasks of this process; `HarnessManager::new` makes each a process of its own.
    let work = MemberWork::new(home.clone(), workshop);
    let engine = HarnessManager::in_process(home.path(), work);

    let member = |backend: &str| -> Result<FleetMember, Box<dyn Error>> {
        let task = Task::new("greeting", "Write greeting.txt.")?;
        let task = task.success(FileCriterion::new("greeting.txt"));
        let mut work = WorkOrder::new([task], Isolation::Shared).backend(backend);
        work.max_iterations = 1;
        Ok(FleetMember::new(HarnessId::new(backend), work))
    };
    let members = [member("small")?, member("large")?];
    let order = FleetOrder::new("greeting", OneAfterTheOther {}, members);

    let run = FleetRun::new(home, order, engine);
    let outcome = run.run(&RunControl::new()).await?;

    for result in &outcome.result.results {
        println!("{}: success {}", result.id, result.success);
    }
    let winner = outcome.result.winner.ok_or("nobody did it")?;
    println!("{winner} did it");
    assert_eq!(winner.as_str(), "large");
    assert_eq!(
        fs::read_to_string(project.path().join("greeting.txt"))?,
        "Hello.\n"
    );
    Ok(())
}
