//! A plugin whose only dependency is this crate, which re-exports everything.

use std::sync::Arc;

use autonoe_flow::autonoe_core::gate::ProjectPaths;
use autonoe_flow::autonoe_core::run::BuildError;
use autonoe_flow::autonoe_core::schemars::JsonSchema;
use autonoe_flow::autonoe_core::serde::{Deserialize, Serialize};
use autonoe_flow::autonoe_core::serde_json::{Value, from_value, json};
use autonoe_flow::autonoe_core::spec::{SpecContext, SpecError};
use autonoe_flow::autonoe_core::{SessionRunner, async_trait, typetag};
use autonoe_flow::autonoe_process::OsSandbox;
use autonoe_flow::check::ProcessRunner;
use autonoe_flow::completion::StateProbe;
use autonoe_flow::completion::{CompletionContext, CompletionResult};
use autonoe_flow::definition::{Completion, WorkStep};
use autonoe_flow::{
    CompletionHandler, CompletionSpec, FlowBuilder, FlowError, FlowEvent, FlowFactory, FlowOptions,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "autonoe_flow::autonoe_core::serde", deny_unknown_fields)]
#[schemars(crate = "autonoe_flow::autonoe_core::schemars")]
struct Never {}

#[typetag::serde(name = "test-never")]
impl CompletionSpec for Never {
    fn build(&self, _: &SpecContext) -> Result<Box<dyn CompletionHandler>, SpecError> {
        Ok(Box::new(Incomplete))
    }
}

struct Incomplete;

#[async_trait]
impl CompletionHandler for Incomplete {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let _: &Value = now.data;
        Ok(CompletionResult::Incomplete)
    }
}

struct Reached;

#[async_trait]
impl StateProbe for Reached {
    async fn is_reached(&self) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(true)
    }
}

#[test]
fn every_type_of_a_plugin_is_named_through_flow() {
    let spec: Box<dyn CompletionSpec> = from_value(json!({"type": "test-never"})).expect("known");
    let context = SpecContext::new(ProjectPaths::new("/srv/project"));
    assert!(spec.build(&context).is_ok());

    let flow = FlowBuilder::new("review")
        .step("draft", "Write.", WorkStep::default())
        .build()
        .expect("it can be built");
    assert!(matches!(
        flow.agent().behavior.completion,
        Completion::StepMachine(_)
    ));
    let built = SessionRunner::builder("/srv/project").build_sessions();
    assert!(matches!(built, Err(BuildError::Missing { part: "agents" })));
    let _configure = |options: FlowOptions, sandbox: OsSandbox| {
        let commands = ProcessRunner::confined("/srv/project", sandbox);
        let states =
            autonoe_flow::completion::ExternalStates::default().with("reached", Arc::new(Reached));
        let options = options.commands(commands).states(states);
        let options = options.observer(|_: &FlowEvent<'_>| {});
        FlowFactory::build(flow.validated().expect("it is valid"), options)
    };
}
