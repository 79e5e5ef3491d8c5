//! What a toolbox makes of tools that misbehave.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::{
    Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode, ToolOutput, Toolbox, TypedTool,
};
use autonoe_testkit::SessionScript;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, create, passes};
use crate::tools::{code, context};

struct Panicking;

#[async_trait]
impl TypedTool for Panicking {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDefinition {
        ToolDefinition::new("panicking", "Panics.", json!({"type": "object"}))
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        panic!("the tool panics");
    }
}

struct Endless(Mutex<bool>);

#[async_trait]
impl TypedTool for Endless {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDefinition {
        ToolDefinition::new("endless", "Never ends.", json!({"type": "object"}))
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        *self.0.lock().expect("not poisoned") = true;
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_tool_that_panics_is_an_error_and_others_go_on() {
    let toolbox = Toolbox::new([Panicking.into_tool()]);

    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_in_a_run_does_not_end_it() {
    let bench = Bench::new([
        SessionScript::new("uses it")
            .fails_tool("mcp__autonoe__panicking", json!({}))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);

    let report = bench.run(bench.runner().tool(Panicking.into_tool())).await;

    assert!(report.exit.is_success(), "{report}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let toolbox = Toolbox::new([Endless(Mutex::new(false)).into_tool()]);
    let cancelled = CancellationToken::new();
    let context = context().with_cancellation(cancelled.clone());

    let (result, ()) = tokio::join!(toolbox.call("endless", json!({}), context), async {
        tokio::task::yield_now().await;
        cancelled.cancel();
    });

    assert_eq!(
        result.expect_err("cancelled").code,
        ToolErrorCode::CANCELLED
    );
}

#[test]
fn a_tool_is_shown_by_its_name() {
    let tool: Arc<dyn Tool> = Panicking.into_tool();

    assert_eq!(format!("{tool:?}"), "tool \"panicking\"");
}
