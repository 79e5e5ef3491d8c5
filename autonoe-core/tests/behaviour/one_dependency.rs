//! Plugins of a user who depends on this crate alone: every type is reachable through it.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{NoControl, Prompt, SessionControl};
use autonoe_core::futures::future::BoxFuture;
use autonoe_core::futures::{StreamExt, stream};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::jiff::Timestamp;
use autonoe_core::jiff::civil::Date;
use autonoe_core::ledger::{DeliverableId, LedgerStore, MemoryRepository};
use autonoe_core::schemars::JsonSchema;
use autonoe_core::serde::{Deserialize, Serialize};
use autonoe_core::serde_json::{Value, json};
use autonoe_core::spec::{HookSpec, SpecContext, SpecError};
use autonoe_core::time::{Clock, SessionKey};
use autonoe_core::tool::{ToolDescription, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, CancellationToken, Capabilities, Deliverable,
    HookDecision, MessageStream, PreToolUseHook, RunId, SessionSpec, Tool, ToolCall, ToolContext,
    ToolError, ToolOutput, TypedTool, async_trait, hook_fn, typetag,
};

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "autonoe_core::serde")]
#[schemars(crate = "autonoe_core::schemars")]
struct Sum {
    numbers: Vec<i64>,
}

struct Adder;

#[async_trait]
impl TypedTool for Adder {
    type Input = Sum;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("add", "Adds numbers.")
    }

    async fn run(&self, input: Sum, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let stop: &CancellationToken = &context.cancelled;
        assert!(!stop.is_cancelled());
        let sum: Value = json!(input.numbers.iter().sum::<i64>());
        Ok(ToolOutput::default().with_metadata("sum", sum))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "autonoe_core::serde", deny_unknown_fields)]
#[schemars(crate = "autonoe_core::schemars")]
struct Offline {}

#[typetag::serde(name = "test-offline")]
impl HookSpec for Offline {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
        Ok(hook_fn("offline", |call, _| match call.name.as_str() {
            "WebFetch" => HookDecision::block("work offline"),
            _ => HookDecision::Pass,
        }))
    }
}

struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Silent;

#[async_trait]
impl AgentClientFactory for Silent {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("silent"))
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(Self))
    }
}

#[async_trait]
impl AgentClient for Silent {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        stream::empty().boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

#[tokio::test]
async fn every_type_of_a_plugin_is_named_through_core() {
    let tools = Toolbox::new([Adder.into_tool() as Arc<dyn Tool>]);
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let input = json!({"numbers": [1, 2, 3]});
    let added = tools.call("add", input, ToolContext::new(key)).await;
    assert_eq!(added.expect("it adds").metadata["sum"], json!(6));
    assert_eq!(
        Toolbox::tool_name(&Toolbox::qualified_name("add")),
        Some("add")
    );

    let spec = autonoe_core::serde_json::from_value(json!({"type": "test-offline"}));
    let spec: Box<dyn HookSpec> = spec.expect("it is known");
    let paths = ProjectPaths::new("/srv/project");
    let hook = spec
        .build(&SpecContext::new(paths.clone()))
        .expect("a hook");
    let call = ToolCall::new("WebFetch", json!({}));
    let expected = HookDecision::block("work offline");
    assert_eq!(hook.check(&call, &paths).await, expected);

    let now: Timestamp = "2026-01-31T12:00:00Z".parse().expect("a time");
    let store = LedgerStore::new(MemoryRepository::new(), Still(now), Default::default());
    let id = DeliverableId::new("DL-001").expect("an id");
    let expected: Date = "2026-01-31".parse().expect("a date");
    let created = store.update(|state, today: Date| {
        assert_eq!(today, expected);
        let login = Deliverable::new(id.clone(), "Login", ["it works"])?;
        state.ledger.create([login], today)
    });
    created.await.expect("it is new");

    assert_eq!(Silent.probe().await.expect("it is there").backend, "silent");
}
