//! Actions that the program requests permission for, and actions that it does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{HookDecision, PreToolUseHook, SessionSpec, StreamEvent, ToolCall, ToolKind};
use autonoe_testkit::model_server::{
    MainRequests, ModelScript, ReceivedPrompt, ScriptedMessage, Turn,
};
use serde_json::json;

use crate::fixture::{Fixture, collect_events};
use crate::model::{adds, calls, shell};

/// Records the calls that it receives, and returns a fixed answer.
#[derive(Debug)]
struct Recorder {
    calls: Mutex<Vec<ToolCall>>,
    answer: fn() -> HookDecision,
}

#[async_trait]
impl PreToolUseHook for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        self.calls.lock().expect("no panic").push(call.clone());
        (self.answer)()
    }
}

impl Recorder {
    fn requests(&self) -> Vec<ToolCall> {
        self.calls.lock().expect("no panic").clone()
    }

    fn names(&self) -> Vec<String> {
        self.requests().into_iter().map(|call| call.name).collect()
    }
}

fn spec(fixture: &Fixture, answer: fn() -> HookDecision) -> (SessionSpec, Arc<Recorder>) {
    let recorder = Arc::new(Recorder {
        calls: Mutex::default(),
        answer,
    });
    let mut spec = fixture.spec([]);
    spec.gate =
        Gate::new(ProjectPaths::new(fixture.project()), Grants::none()).with_hook(recorder.clone());
    (spec, recorder)
}

/// Writes an MCP server whose tool leaves a file, and returns its path.
pub(crate) fn server(fixture: &Fixture) -> PathBuf {
    let path = fixture.folder.join("server.sh");
    let script = r#"#!/bin/bash
while IFS= read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<< "$line")
  case "$line" in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"tools/list"'*) result='{"tools":[{"name":"leave","description":"leaves a file","inputSchema":{"type":"object","properties":{"x":{"type":"number"}}},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"method":"tools/call"'*) echo 1 > by-server.txt; result='{"content":[{"type":"text","text":"left"}]}' ;;
    *) result='{}' ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    fs::write(&path, script).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    path
}

fn all_kinds() -> ModelScript {
    ModelScript::new([
        shell("ls"),
        shell("touch by-command.txt"),
        adds("by-patch.txt", "1"),
        calls(
            ScriptedMessage::new(),
            "mcp__other",
            "leave",
            &json!({"x": 1}),
        )
        .into(),
        Turn::text("That was all."),
    ])
}

async fn play(answer: fn() -> HookDecision) -> (Fixture, Arc<Recorder>, Vec<StreamEvent>) {
    let fixture = Fixture::new(all_kinds());
    let (mut spec, recorder) = spec(&fixture, answer);
    let other = json!({"command": server(&fixture)});
    let other = serde_json::from_value(other).expect("a server");
    spec.mcp_servers.insert("other".to_owned(), other);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    (fixture, recorder, events)
}

fn statuses(events: &[StreamEvent]) -> Vec<ToolStatus> {
    let statuses = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { status, .. } => Some(*status),
        _ => None,
    });
    statuses.collect()
}

#[tokio::test]
async fn commands_patches_and_server_calls_pass_the_gate() {
    let (fixture, recorder, events) = play(|| HookDecision::Approve).await;

    assert_eq!(
        recorder.names(),
        ["Bash", "Bash", "Edit", "mcp__other__leave"]
    );
    let patch = fixture.file("by-patch.txt");
    let kind = ToolKind::Write { paths: vec![patch] };
    assert_eq!(recorder.requests()[2].kind, kind);
    assert_eq!(statuses(&events), [ToolStatus::Ok; 4], "{events:?}");
    assert_eq!(
        fixture.files(),
        ["by-command.txt", "by-patch.txt", "by-server.txt"]
    );
}

#[tokio::test]
async fn denied_calls_do_not_run_and_the_agent_receives_the_reason() {
    let (fixture, recorder, events) = play(|| HookDecision::block("it is a holiday")).await;

    assert_eq!(
        recorder.names(),
        ["Bash", "Bash", "Edit", "mcp__other__leave"]
    );
    assert_eq!(statuses(&events), [ToolStatus::Denied; 4], "{events:?}");
    assert_eq!(fixture.files(), Vec::<String>::new());
    let requests = fixture.server.log().main_requests();
    let texts = requests.last().expect("there are some").user_texts();
    let reasons = texts.iter().filter(|text| text.contains("it is a holiday"));
    assert_eq!(reasons.count(), 4, "{texts:?}");
}

/// The program requests no permission for input that an agent types into a running command.
#[tokio::test]
async fn nothing_can_be_typed_into_a_running_command() {
    let script = ModelScript::from_fn(|prompt: &ReceivedPrompt| {
        match prompt.tool_results().as_slice() {
            [] => Turn::tool(
                "exec_command",
                json!({"cmd": "cat > typed.txt", "tty": true}),
            ),
            [_] => Turn::tool(
                "exec_command",
                json!({"cmd": "while [ ! -e go ]; do sleep 0.05; done; cat > typed.txt", "yield_time_ms": 250}),
            ),
            [_, started] => {
                let (_, session) = started.text.split_once("session ID ").expect("it runs");
                let session: u32 = session
                    .split_whitespace()
                    .next()
                    .expect("a number")
                    .parse()
                    .expect("a number");
                Turn::tool(
                    "write_stdin",
                    json!({"session_id": session, "chars": "typed\n", "yield_time_ms": 250}),
                )
            }
            [_, _, _] => shell("touch go; while [ ! -e typed.txt ]; do sleep 0.05; done"),
            _ => Turn::text("That was all."),
        }
    });
    let fixture = Fixture::new(script).unverified();
    let (spec, recorder) = spec(&fixture, || HookDecision::Approve);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    // The first causes no permission request, because it needs a terminal.
    assert_eq!(recorder.names(), ["Bash", "Bash"]);
    let typed = fs::read_to_string(fixture.file("typed.txt")).expect("it was made");
    assert_eq!(typed, "");
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    assert!(results[0].text.contains("TTY"), "{}", results[0].text);
    assert!(results[2].text.contains("stdin"), "{}", results[2].text);
    fixture.assert_nothing_is_left();
}

/// This is why the capabilities do not claim that every call passes the gate.
#[tokio::test]
async fn resources_of_servers_are_read_without_a_permission_request() {
    let reads = json!({"server": "other"});
    let script = ModelScript::new([
        Turn::tool("list_mcp_resources", reads),
        Turn::text("That was all."),
    ]);
    let fixture = Fixture::new(script);
    let (mut spec, recorder) = spec(&fixture, || HookDecision::block("it is a holiday"));
    let other = json!({"command": server(&fixture)});
    let other = serde_json::from_value(other).expect("a server");
    spec.mcp_servers.insert("other".to_owned(), other);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(recorder.names(), Vec::<String>::new());
    assert_eq!(statuses(&events).len(), 1, "{events:?}");
    fixture.assert_nothing_is_left();
}

/// A new version must not add a tool without permission requests unnoticed.
#[tokio::test]
async fn the_agent_has_these_tools_and_no_others() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let requests = fixture.server.log().main_requests();
    let tools: Vec<_> = requests[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    // The third one asks a user; it does not exist in the mode of these sessions.
    assert_eq!(
        tools,
        [
            "exec_command",
            "write_stdin",
            "request_user_input",
            "apply_patch"
        ]
    );
}

/// Newer models call tools from a script, and receive the tools in another field.
#[tokio::test]
async fn a_command_in_a_script_of_a_newer_model_passes_the_gate() {
    let script =
        ModelScript::from_fn(
            |prompt: &ReceivedPrompt| match prompt.tool_results().len() {
                0 => ScriptedMessage::new()
                    .with_raw_block(json!({
                        "type": "custom_tool_call", "id": "ctc_script", "call_id": "call_script",
                        "status": "completed", "name": "exec",
                        "input": "await tools.exec_command({cmd: 'touch nested.txt'});",
                    }))
                    .into(),
                _ => Turn::text("That was all."),
            },
        );
    let script = script.with_main_requests(MainRequests::All);
    let fixture = Fixture::new(script).unverified();
    let (mut spec, recorder) = spec(&fixture, || HookDecision::block("it is a holiday"));
    spec.model = Some("gpt-6.1-sol".to_owned());
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(recorder.names(), ["Bash"]);
    assert_eq!(statuses(&events), [ToolStatus::Denied], "{events:?}");
    assert_eq!(fixture.files(), Vec::<String>::new());
    let exchanges = fixture.server.log().exchanges();
    let prompts = exchanges
        .iter()
        .filter_map(|exchange| exchange.request.messages());
    let offered = prompts.map(|prompt| prompt.raw["input"][0].to_string());
    for offered in offered {
        assert!(offered.contains("exec_command"), "{offered}");
        assert!(!offered.contains("spawn_agent"), "{offered}");
    }
    fixture.assert_nothing_is_left();
}
