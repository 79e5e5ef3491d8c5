//! Runs on the real Gemini CLI, which gets our tools over HTTP.

use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::choosing::fixture::{Fixture, passed, plan, run_command};

#[test]
fn a_run_plans_and_builds_a_project_and_denied_calls_change_nothing() {
    let fixture = Fixture::new().with_gemini();
    let shell = |command: &str| Turn::tool("run_shell_command", json!({"command": command}));
    let greeting = json!({"file_path": "hello.txt", "content": "hello\n"});
    let server = GeminiServer::start(ModelScript::new([
        Turn::tool("mcp_autonoe_create", plan()),
        Turn::text("It is planned."),
        shell("curl example.com > trace.txt"),
        Turn::tool("write_file", greeting),
        Turn::tool("mcp_autonoe_set_status", passed()),
        Turn::text("It is done."),
    ]));
    let arguments = [
        "run",
        "--pause=0s",
        "--backend=gemini",
        "-m",
        "gemini-2.5-flash",
    ];
    let mut command = fixture.command(&arguments);
    command
        .env("GEMINI_API_KEY", "nobody checks it")
        .env("GOOGLE_GEMINI_BASE_URL", server.url());

    let run = run_command(command);

    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = "1 of 1 deliverables passed; 2 iterations";
    assert!(run.stdout.contains(summary), "{run:?}");
    assert!(run.stderr.contains("Denied Bash: curl"), "{run:?}");
    assert_eq!(fixture.read("hello.txt"), "hello\n");
    assert_eq!(fixture.names(), ["SPEC.md", "hello.txt"]);
    server.verify();
    fixture.wait_for_processes();
}
