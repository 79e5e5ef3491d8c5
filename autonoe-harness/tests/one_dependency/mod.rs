//! Plugins of a user who depends on this crate alone: all types are reachable through it.

use std::sync::Arc;

use autonoe_harness::autonoe_core::agent::AgentErrorKind;
use autonoe_harness::autonoe_core::engine::{
    JobContext, JobRunner, LocalEngine, RunOutcome, RunSpec,
};
use autonoe_harness::autonoe_core::schemars::JsonSchema;
use autonoe_harness::autonoe_core::serde::{Deserialize, Serialize};
use autonoe_harness::autonoe_core::serde_json::{from_value, json};
use autonoe_harness::autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, RunControl, SessionSpec,
    async_trait, typetag,
};
use autonoe_harness::autonoe_process::ProcessRunner;
use autonoe_harness::coordinate::{MemberSpec, StrategyRun};
use autonoe_harness::executor::{Verification, VerificationContext};
use autonoe_harness::strategy::{Decision, Fleet, MemberId, Order};
use autonoe_harness::{
    AgentExecutor, Coordinator, Criterion, Execution, Executors, FleetEvent, Strategy,
    SuccessCriteria, Task,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "autonoe_harness::autonoe_core::serde", deny_unknown_fields)]
#[schemars(crate = "autonoe_harness::autonoe_core::schemars")]
struct NothingDenied {}

#[typetag::serde(name = "test-nothing-denied")]
#[async_trait]
impl Criterion for NothingDenied {
    fn describe(&self) -> String {
        "no tool call is refused".to_owned()
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        if context.result.denied.is_empty() {
            Verification::passed("nothing was refused")
        } else {
            Verification::failed("something was refused")
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(crate = "autonoe_harness::autonoe_core::serde")]
struct GiveUp {}

#[typetag::serde(name = "test-give-up")]
impl Strategy for GiveUp {
    fn decide(&self, _: &Fleet) -> Vec<Order> {
        vec![Order::Finish(Decision::failed())]
    }
}

struct Absent;

#[async_trait]
impl AgentClientFactory for Absent {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Err(AgentError::new(
            AgentErrorKind::NotAvailable,
            "it is absent",
        ))
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Err(AgentError::new(
            AgentErrorKind::NotAvailable,
            "it is absent",
        ))
    }
}

struct Echo;

#[async_trait]
impl JobRunner for Echo {
    async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
        RunOutcome::succeeded(run.input.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn every_type_of_a_plugin_is_named_through_harness() {
    let criteria = json!({"type": "test-nothing-denied"});
    let criteria: SuccessCriteria = from_value(criteria).expect("it is known");
    let task = Task::new("T-1", "Tidy up.")
        .expect("an id")
        .success_criteria(criteria);
    let commands = ProcessRunner::unconfined("/");
    let executor = AgentExecutor::new("absent", Absent, std::env::temp_dir()).commands(commands);
    let result = Executors::default()
        .executor(executor)
        .run(&task, &Execution::default())
        .await;
    assert!(!result.expect("the task is right").is_success());

    let member = MemberSpec::new(MemberId::new("a"), "echo", json!("done"));
    let report = Coordinator::new("fleet", LocalEngine::new(Echo), GiveUp {})
        .members([member])
        .observer(|_: &FleetEvent| {})
        .run(&RunControl::new())
        .await;
    assert!(!report.expect("it begins").success);
}

#[test]
fn a_strategy_is_given_as_a_value_or_shared() {
    let by_value = StrategyRun::new(GiveUp {});
    let shared: Arc<dyn Strategy> = Arc::new(GiveUp {});
    let shared = StrategyRun::new(shared);

    assert_eq!(json!(by_value), json!(shared));
}
