//! Runs a fleet in this process, with a custom strategy: a small model tries first, and a large one
//! only if necessary.
//!
//! Scripted agents stand in for the models. Run it with `cargo run -p autonoe-harness --example
//! fleet`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::{CostUsd, RunControl};
use autonoe_harness::executor::FileCriterion;
use autonoe_harness::strategy::{Decision, Fleet, MemberId, Order};
use autonoe_harness::work::{Isolation, WorkOrder};
use autonoe_harness::{
    AgentExecutor, Executors, FleetHome, FleetMember, FleetOrder, FleetRun, MemberManager,
    MemberWork, Strategy, Task,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};
use serde::{Deserialize, Serialize};

/// Runs one member after the other, until one succeeds. The strategy is called again after every
/// change, and returns orders; it does nothing itself.
#[derive(Debug, Serialize, Deserialize)]
struct OneAfterTheOther {}

#[typetag::serde(name = "example-one-after-the-other")]
impl Strategy for OneAfterTheOther {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        if let Some(done) = fleet.successes().next() {
            return vec![Order::Finish(Decision::won_by(done))];
        }
        match fleet.waiting().next() {
            _ if fleet.has_running_members() => Vec::new(),
            Some(next) => vec![Order::start(next)],
            None => vec![Order::Finish(Decision::failed())],
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = TempProject::new();
    let home = FleetHome::new(project.path());
    let small = SessionScript::new("small")
        .says("I have written it.")
        .costs(CostUsd::from_cents(1))
        .ends();
    let large = SessionScript::new("large")
        .performs(|folder| fs::write(folder.join("greeting.txt"), "Hello.\n").expect("a file"))
        .says("It is there now.")
        .costs(CostUsd::from_cents(20))
        .ends();
    let (small, large) = (ScriptedBackend::new([small]), ScriptedBackend::new([large]));
    let (small, large) = (Arc::new(small), Arc::new(large));

    // Builds the executors of a member, for the folder of the project or a worktree.
    let executor_factory = move |folder: &Path| {
        Executors::default()
            .executor(AgentExecutor::new("small", small.clone(), folder))
            .executor(AgentExecutor::new("large", large.clone(), folder))
    };
    // Members are tasks of this process; `MemberManager::new` runs each in a process of its own.
    let work = MemberWork::new(home.clone(), executor_factory);
    let engine = MemberManager::in_process(home.path(), work);

    let member = |backend: &str| -> Result<FleetMember, Box<dyn Error>> {
        let task = Task::new("greeting", "Write greeting.txt.")?;
        let task = task.success_criteria(FileCriterion::new("greeting.txt"));
        let mut work = WorkOrder::new([task], Isolation::Shared).backend(backend);
        work.max_iterations = 1;
        Ok(FleetMember::new(MemberId::new(backend), work))
    };
    let members = [member("small")?, member("large")?];
    let order = FleetOrder::new("greeting", OneAfterTheOther {}, members);

    let run = FleetRun::new(home, order, engine);
    let outcome = run.run(&RunControl::new()).await?;

    for result in &outcome.results {
        println!("{}: success {}", result.id, result.success);
    }
    let winner = outcome.winner.ok_or("no member succeeded")?;
    println!("{winner} did it");
    assert_eq!(winner.as_str(), "large");
    assert_eq!(
        fs::read_to_string(project.path().join("greeting.txt"))?,
        "Hello.\n"
    );
    Ok(())
}
