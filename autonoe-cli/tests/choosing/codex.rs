//! Runs and flows on the real Codex.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, ScriptedMessage, Turn};
use serde_json::{Value, json};

use crate::choosing::fixture::{CommandOutput, Fixture, passed, plan, run_command};

/// The model calls one of our tools.
pub(crate) fn calls_our_tool(tool: &str, input: &Value) -> Turn {
    in_namespace("autonoe", tool, input)
}

/// The model calls a tool of an MCP server.
pub(crate) fn in_namespace(namespace: &str, tool: &str, input: &Value) -> Turn {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let call = json!({
        "type": "function_call",
        "id": format!("fc_raw_{number}"),
        "call_id": format!("call_raw_{number}"),
        "status": "completed",
        "namespace": namespace,
        "name": tool,
        "arguments": input.to_string(),
    });
    ScriptedMessage::new().with_raw_block(call).into()
}

/// The model adds a file with one line.
fn adds(file: &str, line: &str) -> Turn {
    let call = json!({
        "type": "custom_tool_call",
        "id": "ctc_patch",
        "call_id": format!("call_patch_{file}"),
        "status": "completed",
        "name": "apply_patch",
        "input": format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n"),
    });
    ScriptedMessage::new().with_raw_block(call).into()
}

pub(crate) fn shell(command: &str) -> Turn {
    Turn::tool("exec_command", json!({"cmd": command}))
}

/// A run with one denied command and one edited file.
fn turns() -> Vec<Turn> {
    vec![
        calls_our_tool("create", &plan()),
        Turn::text("It is planned."),
        shell("curl example.com > trace.txt"),
        adds("hello.txt", "hello"),
        calls_our_tool("set_status", &passed()),
        Turn::text("It is done."),
    ]
}

/// Runs the command with `server` as the model service.
fn run_on(mut command: Command, server: &OpenAiServer) -> CommandOutput {
    command
        .env("OPENAI_API_KEY", "nobody checks it")
        .env("OPENAI_BASE_URL", server.api_url());
    run_command(command)
}

fn assert_greeted(fixture: &Fixture, run: &CommandOutput, server: &OpenAiServer) {
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = "1 of 1 deliverables passed; 2 iterations";
    assert!(run.stdout.contains(summary), "{run:?}");
    assert!(run.stderr.contains("Denied Bash: curl"), "{run:?}");
    assert_eq!(fixture.read("hello.txt"), "hello\n");
    assert_eq!(fixture.names(), ["SPEC.md", "hello.txt"]);
    server.verify();
    fixture.wait_for_processes();
}

#[test]
fn a_run_plans_and_builds_a_project_and_denied_calls_change_nothing() {
    let fixture = Fixture::new().with_codex();
    let server = OpenAiServer::start(ModelScript::new(turns()));
    let command = fixture.command(&["run", "--pause=0s", "--backend=codex", "-m", "gpt-5.5"]);

    let run = run_on(command, &server);

    assert_greeted(&fixture, &run, &server);
    assert_eq!(run.warnings(), Vec::<&str>::new(), "{run:?}");
}

/// The scripted model reports tokens for each call, and they have a price.
#[test]
fn a_cost_budget_ends_a_run_on_a_priced_model() {
    let fixture = Fixture::new().with_codex();
    let script = ModelScript::new([
        calls_our_tool("create", &plan()),
        Turn::text("It is planned."),
    ]);
    let server = OpenAiServer::start(script.rest_fn(|_| shell("ls"))).unverified();
    let arguments = ["run", "--pause=0s", "--backend=codex", "-m", "gpt-5.5"];
    let command = fixture.command(&[&arguments[..], &["--max-cost=0.01"]].concat());

    let run = run_on(command, &server);

    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(run.stdout.contains("cost budget"), "{run:?}");
    assert!(run.stdout.contains("$0.0"), "{run:?}");
    fixture.wait_for_processes();
}

#[test]
fn project_settings_select_codex_and_print_warning() {
    let fixture = Fixture::new()
        .with_codex()
        .configured(&json!({"backend": {"type": "codex", "model": "gpt-5.5"}}));
    let server = OpenAiServer::start(ModelScript::new(turns()));

    let run = run_on(fixture.command(&["run", "--pause=0s"]), &server);

    assert_greeted(&fixture, &run, &server);
    let warnings = run.warnings().join("\n");
    assert!(
        warnings.contains("agents run on the backend codex, as"),
        "{run:?}"
    );
    assert!(warnings.contains("codex uses model \"gpt-5.5\""), "{run:?}");
}

#[test]
fn a_flow_runs_on_codex() {
    let fixture = Fixture::new()
        .with_codex()
        .configured(&json!({"backend": {"type": "codex", "model": "gpt-5.5"}}));
    fixture.write("bin/npm", "#!/bin/sh\n[ -e mended.txt ]\n");
    make_executable(&fixture);
    copy_flow(&fixture);
    let server = OpenAiServer::start(ModelScript::new([
        adds("mended.txt", "It is mended."),
        Turn::text("It was the clock."),
    ]));
    let words = ["flow", "run", "fix-bug", "--json", "--bug", "it crashes"];
    let mut command = fixture.command(&words);
    let path = std::env::var("PATH").unwrap_or_default();
    let bins = ["bin", "../bin"].map(|name| fixture.root().join(name).display().to_string());
    command.env("PATH", format!("{}:{path}", bins.join(":")));

    let flow = run_on(command, &server);

    assert_eq!(flow.code, Some(0), "{flow:?}");
    assert_eq!(flow.json()["complete"], true, "{flow:?}");
    assert_eq!(fixture.read("mended.txt"), "It is mended.\n");
    server.verify();
    fixture.wait_for_processes();
}

fn make_executable(fixture: &Fixture) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(fixture.root().join("bin/npm"), mode).expect("ours");
}

/// Copies the flow `fix-bug` into the project.
fn copy_flow(fixture: &Fixture) {
    use std::path::Path;
    let flow = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows/fix-bug");
    let mut folders = vec![flow.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(&flow)
                .expect("below")
                .display()
                .to_string();
            let text = std::fs::read_to_string(&path).expect("text");
            fixture.write(&format!(".autonoe/flows/fix-bug/{name}"), &text);
        }
    }
}
