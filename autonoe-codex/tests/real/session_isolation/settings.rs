//! Each session has its own settings, tools, servers and trace.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::event::TraceContext;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::tool::{ToolDefinition, ToolStatus, Toolbox};
use autonoe_core::{
    HookDecision, PreToolUseHook, SessionSpec, Tool, ToolCall, ToolContext, ToolError, ToolOutput,
};
use autonoe_testkit::model_server::{ModelScript, ScriptedMessage, Turn};
use serde_json::{Value, json};

use super::{Run, answers};
use crate::model::{autonoe_tool_call, calls, shell};
use crate::permission_requests::server;

/// One of our tools.
struct Ring(ToolDefinition);

#[async_trait]
impl Tool for Ring {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, _input: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new("rung"))
    }
}

/// A hook that records the calls it receives, and passes them.
#[derive(Default)]
struct Counter(Mutex<Vec<String>>);

#[async_trait]
impl PreToolUseHook for Counter {
    fn name(&self) -> &str {
        "counter"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        self.0.lock().expect("no panic").push(call.name.clone());
        HookDecision::Approve
    }
}

fn counted(run: &Run) -> (SessionSpec, Arc<Counter>) {
    let counter = Arc::new(Counter::default());
    let mut spec = run.spec();
    let gate = Gate::new(ProjectPaths::new(run.project()), Grants::none());
    spec.gate = gate.with_hook(counter.clone());
    (spec, counter)
}

#[tokio::test]
async fn model_and_instructions_are_those_of_the_session() {
    let run = Run::new(ModelScript::new([
        Turn::text("Hello."),
        Turn::text("Hello."),
    ]));
    let mut spec = run.spec();
    spec.model = Some("gpt-5.4".into());
    spec.system_prompt = Some("You are the first.".into());
    run.play(spec).await;

    let mut spec = run.spec();
    spec.system_prompt = Some("You are the second.".into());
    run.play(spec).await;

    let requests = run.server.log().main_requests();
    assert_eq!(requests[0].model, "gpt-5.4");
    assert_eq!(requests[1].model, "gpt-5.5");
    let request = requests[1].raw.to_string();
    assert!(request.contains("You are the second."), "{request}");
    assert!(!request.contains("You are the first."), "{request}");
}

#[tokio::test]
async fn an_allowed_call_passes_the_gate_in_the_next_session_too() {
    let calls = || {
        [
            shell("touch trace.txt"),
            calls(
                ScriptedMessage::new(),
                "mcp__other",
                "leave",
                &json!({"x": 1}),
            )
            .into(),
            Turn::text("Done."),
        ]
    };
    let run = Run::new(ModelScript::new(calls().into_iter().chain(calls())));
    let other = serde_json::from_value(json!({"command": server(&run)}));
    let other: autonoe_core::tool::McpServer = other.expect("a server");
    for _ in 0..2 {
        let (mut spec, counter) = counted(&run);
        spec.mcp_servers.insert("other".to_owned(), other.clone());

        run.play(spec).await;

        let checked_tools = counter.0.lock().expect("no panic").clone();
        assert_eq!(checked_tools, ["Bash", "mcp__other__leave"]);
    }
    run.server.verify();
}

#[tokio::test]
async fn tools_and_servers_end_with_their_session() {
    let turns = || {
        [
            autonoe_tool_call("ring", &json!({})),
            calls(
                ScriptedMessage::new(),
                "mcp__other",
                "leave",
                &json!({"x": 1}),
            )
            .into(),
            Turn::text("Done."),
        ]
    };
    let run = Run::new(ModelScript::new(turns().into_iter().chain(turns())));
    let ring = ToolDefinition::new("ring", "Rings.", json!({"type": "object"}));
    let (mut spec, _) = counted(&run);
    spec.tools = Toolbox::new([Arc::new(Ring(ring)) as Arc<dyn Tool>]);
    let other = serde_json::from_value(json!({"command": server(&run)}));
    spec.mcp_servers
        .insert("other".to_owned(), other.expect("a server"));
    let first = answers(&run.play(spec).await);
    assert!(
        first.iter().all(|(status, _)| *status == ToolStatus::Ok),
        "{first:?}"
    );
    std::fs::remove_file(run.file("by-server.txt")).expect("the server was called");

    let (spec, counter) = counted(&run);
    let second = answers(&run.play(spec).await);

    assert!(
        !second.iter().any(|(status, _)| *status == ToolStatus::Ok),
        "{second:?}"
    );
    assert!(!run.file("by-server.txt").exists());
    assert!(counter.0.lock().expect("no panic").is_empty());
    let requests = run.server.log().main_requests();
    let (before, now) = (requests[0].raw.to_string(), requests[3].raw.to_string());
    assert!(before.contains("\"ring\""), "{before}");
    for name in ["\"ring\"", "mcp__other"] {
        assert!(!now.contains(name), "{name}: {now}");
    }
}

#[tokio::test]
async fn commands_get_the_trace_of_their_session() {
    let print_variable = || [shell("echo $TRACEPARENT"), Turn::text("Done.")];
    let run = Run::new(ModelScript::new(
        print_variable()
            .into_iter()
            .chain(print_variable())
            .chain(print_variable()),
    ));
    for number in ["1", "2"] {
        let trace = format!("00-{}-{}-01", number.repeat(32), number.repeat(16));
        let mut spec = run.spec();
        spec.trace = Some(TraceContext::parse(&trace, None).expect("a trace"));

        let answers = answers(&run.play(spec).await);

        assert_eq!(answers[0].1.trim(), trace);
    }
    let answers = answers(&run.play(run.spec()).await);
    assert_eq!(answers[0].1.trim(), "");
}
