//! Resuming runs whose command was killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::choosing::codex::{calls_our_tool, shell};
use crate::choosing::fixture::{CommandOutput, Fixture, TIMEOUT, passed, run_command};

/// A command that does not end on its own.
const ENDLESS: &str = "echo 1 > begun.txt && sleep 600";

/// A child process, killed on drop at the latest.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a command, kills it in its first session, and waits until all of its processes have
/// ended. The agent in its sandbox dies with it.
fn kill_in_the_middle(fixture: &Fixture, mut command: Command) {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let killed = Killed(command.spawn().expect("it starts"));
    let started_at = Instant::now();
    while !fixture.root().join("begun.txt").exists() {
        assert!(started_at.elapsed() < TIMEOUT, "its tool never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(killed);
    fixture.wait_for_processes();
}

/// Asserts that the run was resumed and finished, with its previous ledger.
fn assert_resumed(fixture: &Fixture, run: &CommandOutput) {
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("resuming the killed run"), "{run:?}");
    assert!(run.stdout.contains("1 of 1 deliverables passed"), "{run:?}");
    let ledger: Value = serde_json::from_str(&fixture.read(".autonoe/status.json")).expect("JSON");
    let deliverables = ledger["deliverables"].as_array().expect("some");
    assert_eq!(deliverables.len(), 1, "{ledger}");
    assert_eq!(deliverables[0]["passed"], true, "{ledger}");
    fixture.wait_for_processes();
}

#[test]
fn a_run_on_codex_is_resumed() {
    let fixture = Fixture::new().planned().with_codex();
    let server = OpenAiServer::start(ModelScript::new([
        shell(ENDLESS),
        calls_our_tool("set_status", &passed()),
        Turn::text("It is done."),
    ]));
    let command = || {
        let arguments = ["run", "--pause=0s", "--backend=codex", "-m", "gpt-5.5"];
        let mut command = fixture.command(&arguments);
        command
            .env("OPENAI_API_KEY", "nobody checks it")
            .env("OPENAI_BASE_URL", server.api_url());
        command
    };

    kill_in_the_middle(&fixture, command());
    let run = run_command(command());

    assert_resumed(&fixture, &run);
    server.verify();
}

#[test]
fn a_run_on_gemini_is_resumed() {
    let fixture = Fixture::new().planned().with_gemini();
    let server = GeminiServer::start(ModelScript::new([
        Turn::tool("run_shell_command", json!({"command": ENDLESS})),
        Turn::tool("mcp_autonoe_set_status", passed()),
        Turn::text("It is done."),
    ]));
    let command = || {
        let model = "gemini-2.5-flash";
        let mut command = fixture.command(&["run", "--pause=0s", "--backend=gemini", "-m", model]);
        command
            .env("GEMINI_API_KEY", "nobody checks it")
            .env("GOOGLE_GEMINI_BASE_URL", server.url());
        command
    };

    kill_in_the_middle(&fixture, command());
    let run = run_command(command());

    assert_resumed(&fixture, &run);
    server.verify();
}
