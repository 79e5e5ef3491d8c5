//! Toolboxes with tools that misbehave.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolDescription, ToolErrorCode, Toolbox};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput, TypedTool};
use autonoe_testkit::SessionScript;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::behaviour::support::{Fixture, create, passes};
use crate::behaviour::tools::{code, context};

struct Panicking;

#[async_trait]
impl TypedTool for Panicking {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new("panicking", "Panics.")
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        panic!("the tool panics");
    }
}

/// Never ends, and keeps the token of its call.
#[derive(Clone, Default)]
struct Endless(Arc<Mutex<Option<CancellationToken>>>);

impl Endless {
    fn is_cancelled(&self) -> bool {
        let token = self.0.lock().expect("not poisoned");
        token.as_ref().expect("it was called").is_cancelled()
    }
}

#[async_trait]
impl TypedTool for Endless {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new("endless", "Never ends.")
    }
    async fn run(&self, _: Self::Input, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        *self.0.lock().expect("not poisoned") = Some(context.cancelled.clone());
        std::future::pending().await
    }
}

// Shows: framework/tools/never-throw-at-boundaries
#[tokio::test]
async fn a_panic_of_a_tool_is_an_error_and_other_tools_continue() {
    let toolbox = Toolbox::new([Panicking.into_tool()]);

    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
    assert_eq!(code(&toolbox, "panicking", json!({})).await, "UNKNOWN");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_in_a_run_does_not_end_it() {
    let fixture = Fixture::new([
        SessionScript::new("uses it")
            .fails_tool("mcp__autonoe__panicking", json!({}))
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .ends(),
        passes("A"),
    ]);

    let report = fixture
        .run(fixture.runner().tool(Panicking.into_tool()))
        .await;

    assert!(report.exit.is_success(), "{report}");
}

// Shows: framework/tools/context.abort
#[tokio::test]
async fn a_call_without_a_waiting_caller_is_cancelled() {
    let toolbox = Toolbox::new([Endless::default().into_tool()]);
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

// Shows: framework/tools/context.abort
#[tokio::test]
async fn a_tool_is_cancelled_when_its_session_ends_or_its_caller_drops_the_call() {
    let (endless, over) = (Endless::default(), CancellationToken::new());
    let toolbox = Toolbox::new([endless.clone().into_tool()]).with_end_token(over.clone());

    let call = toolbox.call("endless", json!({}), context());
    let dropped = tokio::time::timeout(Duration::ZERO, call).await;
    assert!(dropped.is_err() && endless.is_cancelled());

    let (result, ()) = tokio::join!(toolbox.call("endless", json!({}), context()), async {
        tokio::task::yield_now().await;
        assert!(!endless.is_cancelled());
        over.cancel();
    });
    assert!(result.is_err() && endless.is_cancelled());
}

#[tokio::test]
async fn the_result_of_a_tool_does_not_cancel_its_work_in_the_background() {
    let notes = Notes::with_schema(json!({"type": "object"}));
    let toolbox = Toolbox::new([notes.clone() as Arc<dyn Tool>]);

    let result = toolbox.call("notes", json!({}), context()).await;

    assert!(result.is_ok());
    let noted = notes.0.lock().expect("not poisoned");
    assert!(!noted[0].1.cancelled.is_cancelled());
}

#[test]
fn the_debug_output_of_a_tool_is_its_name() {
    let tool: Arc<dyn Tool> = Panicking.into_tool();

    assert_eq!(format!("{tool:?}"), "tool \"panicking\"");
}

/// Records its calls.
struct Notes(Mutex<Vec<(Value, ToolContext)>>, ToolDefinition);

impl Notes {
    fn with_schema(schema: Value) -> Arc<Self> {
        let definition = ToolDefinition::new("notes", "Takes notes.", schema);
        Arc::new(Self(Mutex::default(), definition))
    }

    fn inputs(&self) -> Vec<Value> {
        let noted = self.0.lock().expect("not poisoned");
        noted.iter().map(|(input, _)| input.clone()).collect()
    }
}

#[async_trait]
impl Tool for Notes {
    fn definition(&self) -> &ToolDefinition {
        &self.1
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.0
            .lock()
            .expect("not poisoned")
            .push((input, context.clone()));
        Ok(ToolOutput::new("noted"))
    }
}

#[tokio::test]
async fn a_tool_gets_the_numbers_that_a_model_wrote_as_texts() {
    let notes = Notes::with_schema(json!({
        "type": "object",
        "properties": {"count": {"type": "integer"}, "name": {"type": "string"}},
    }));
    let toolbox = Toolbox::new([notes.clone() as Arc<dyn Tool>]);

    let input = json!({"count": "3", "name": "3"});
    toolbox
        .call("notes", input, context())
        .await
        .expect("it fits");
    toolbox
        .call("notes", Value::Null, context())
        .await
        .expect("nothing is needed");

    assert_eq!(
        notes.inputs(),
        [json!({"count": 3, "name": "3"}), json!({})]
    );
}

// Shows: framework/tools/parameters-are-checked
#[tokio::test]
async fn input_that_does_not_fit_never_reaches_a_tool() {
    let notes = Notes::with_schema(json!({
        "type": "object",
        "properties": {"count": {"type": "integer"}},
        "required": ["count"],
        "additionalProperties": false,
    }));
    let toolbox = Toolbox::new([notes.clone() as Arc<dyn Tool>]);

    for input in [
        json!({}),
        json!({"count": "three"}),
        json!({"count": 3, "more": 1}),
        json!([3]),
    ] {
        assert_eq!(code(&toolbox, "notes", input).await, "VALIDATION_ERROR");
    }

    assert_eq!(notes.inputs(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_tool_with_an_invalid_schema_is_not_called() {
    let notes = Notes::with_schema(json!({"type": "object", "unevaluatedProperties": false}));
    let toolbox = Toolbox::new([notes.clone() as Arc<dyn Tool>]);

    let error = toolbox
        .call("notes", json!({}), context())
        .await
        .expect_err("refused");

    assert_eq!(error.code, ToolErrorCode::VALIDATION_ERROR);
    assert!(error.message.contains("unevaluatedProperties"), "{error}");
    assert_eq!(notes.inputs(), Vec::<Value>::new());
}

// Shows: framework/tools/context-session-id-message-id
#[tokio::test]
async fn tool_context_has_session_call_message_and_agent() {
    let notes = Notes::with_schema(json!({"type": "object"}));
    let toolbox = Toolbox::new([notes.clone() as Arc<dyn Tool>]);
    let called = context()
        .with_call_id("call-1")
        .with_message_id("message-1")
        .with_agent("reviewer");

    toolbox
        .call("notes", json!({}), called.clone())
        .await
        .expect("it works");

    let noted = notes.0.lock().expect("not poisoned");
    let (_, seen) = &noted[0];
    assert_eq!(seen.session, called.session);
    assert_eq!(
        (
            seen.call_id.as_deref(),
            seen.message_id.as_deref(),
            seen.agent.as_deref()
        ),
        (Some("call-1"), Some("message-1"), Some("reviewer"))
    );
}

#[test]
fn the_schema_of_a_typed_tool_is_that_of_its_input() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Pages {
        /// A number.
        number: u8,
    }
    struct Printer;

    #[async_trait]
    impl TypedTool for Printer {
        type Input = Pages;
        fn describe(&self) -> ToolDescription {
            ToolDescription::new("print", "Prints.").read_only()
        }
        async fn run(&self, pages: Pages, _: &ToolContext) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::new(pages.number.to_string()))
        }
    }

    let tool = Printer.into_tool();

    let expected = ToolDefinition::for_input::<Pages>("print", "Prints.").read_only();
    assert_eq!(*tool.definition(), expected);
    assert_eq!(expected.input_schema["required"], json!(["number"]));
}

#[test]
fn only_the_qualified_name_resolves_to_its_tool() {
    for tool in ["list", "a__b", "mcp__autonoe__list"] {
        let qualified = Toolbox::qualified_name(tool);
        assert_eq!(Toolbox::tool_name(&qualified), Some(tool));
    }
    for other in [
        "list",
        "mcp__autonoe__",
        "mcp__autonoe",
        "mcp__autonoes__list",
        "Read",
    ] {
        assert_eq!(Toolbox::tool_name(other), None, "{other}");
    }
}
