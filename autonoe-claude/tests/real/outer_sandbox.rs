//! Claude Code as a whole in the outer sandbox.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use autonoe_backend::{SandboxConfig, SandboxNetwork};
use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, Sandbox};
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, AgentError, SessionSpec, StreamEvent};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events, within};

fn bash(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    Turn::tool("Bash", input)
}

fn write(path: &Path, content: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": path, "content": content}))
}

fn sandboxed(mut spec: SessionSpec) -> SessionSpec {
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    spec
}

/// Returns a path that is neither in the project nor in a folder that is private in the sandbox.
fn outside(build: Build, name: &str) -> PathBuf {
    let (process, version) = (std::process::id(), build.version);
    PathBuf::from(format!(
        "/var/tmp/autonoe-escape-{process}-{version}-{name}"
    ))
}

/// Plays one turn of `spec`, and returns its events. Asserts that nothing is left.
async fn played(
    fixture: &Fixture,
    options: ClaudeOptions,
    spec: SessionSpec,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let turn = collect_events(client.as_mut(), "Do it.").await;
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
    turn
}

fn statuses(events: &[StreamEvent]) -> Vec<ToolStatus> {
    let statuses = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { status, .. } => Some(*status),
        _ => None,
    });
    statuses.collect()
}

async fn allowed_commands_write_only_the_project(build: Build) {
    use ToolStatus::{Error, Ok};
    let by_command = outside(build, "command");
    let by_tool = outside(build, "tool");
    let script = ModelScript::new([
        // The program parses commands, and refuses writes to `.autonoe`; it does not parse scripts.
        write(
            Path::new("trick.sh"),
            "mv .autonoe elsewhere; echo 1 > .autonoe/status.json",
        ),
        bash("echo 1 > by-command.txt"),
        bash(&format!("echo 1 > {}", by_command.display())),
        write(&by_tool, "1"),
        bash("sh trick.sh"),
        bash("echo 1 > /tmp/autonoe-private && cat /tmp/autonoe-private > copied.txt"),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::new(build, script);
    std::fs::create_dir(fixture.file(".autonoe")).expect("it can be made");

    let spec = sandboxed(fixture.spec([]));
    let (events, error) = played(&fixture, fixture.options(), spec).await;

    assert!(error.is_none(), "{error:?} {events:?}");
    let expected = [Ok, Ok, Error, Error, Error, Ok];
    assert_eq!(statuses(&events), expected, "{events:#?}");
    let written = ["by-command.txt", "copied.txt", "trick.sh"];
    assert_eq!(fixture.files(), written);
    for path in [&by_command, &by_tool, Path::new("/tmp/autonoe-private")] {
        assert!(!path.exists(), "{} was left", path.display());
    }
    let ledger = std::fs::read_dir(fixture.file(".autonoe")).expect("it is there");
    assert_eq!(ledger.count(), 0);
    fixture.server.verify();
}

async fn a_command_reaches_the_network_that_the_program_has(build: Build) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let connect = bash(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
    let fixture = Fixture::new(build, ModelScript::new([connect, Turn::text("Done.")]));

    let spec = sandboxed(fixture.spec([]));
    let (events, error) = played(&fixture, fixture.options(), spec).await;

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(statuses(&events), [ToolStatus::Ok], "{events:?}");
    listener.set_nonblocking(true).expect("it can be");
    listener.accept().expect("somebody was there");
}

async fn nothing_is_reachable_without_a_network(build: Build) {
    let fixture =
        Fixture::new(build, ModelScript::from_fn(|_| Turn::text("I am here."))).unverified();
    let mut options = fixture.options();
    options.program.sandbox.network = SandboxNetwork::Off;
    let once = ("CLAUDE_CODE_MAX_RETRIES".into(), "0".into());
    options.program.environment.extend([once]);

    let (events, error) = played(&fixture, options, sandboxed(fixture.spec([]))).await;

    assert!(error.is_some(), "{events:?}");
    assert!(fixture.server.log().main_requests().is_empty());
}

async fn hidden_paths_are_not_visible(build: Build) {
    let secrets = outside(build, "secrets");
    let script = ModelScript::new([
        bash(&format!("cat {}/key", secrets.display())),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::new(build, script);
    std::fs::create_dir(&secrets).expect("it can be made");
    std::fs::write(secrets.join("key"), "a-secret").expect("writable");
    let mut options = fixture.options();
    options.program.sandbox.hidden.push(secrets.clone());

    let (events, error) = played(&fixture, options, sandboxed(fixture.spec([]))).await;
    std::fs::remove_dir_all(&secrets).expect("ours");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(statuses(&events), [ToolStatus::Error], "{events:?}");
    assert!(!format!("{events:?}").contains("a-secret"), "{events:?}");
}

async fn a_persistent_conversation_is_resumed(build: Build) {
    let script = ModelScript::new([Turn::text("I will remember."), Turn::text("I do.")]);
    let fixture = Fixture::new(build, script);
    let persistent = ConfigFolder::Persistent(fixture.folder.join("kept"));
    let mut resumed: Option<AgentSessionId> = None;
    for _ in 0..2 {
        let mut options = fixture.options();
        options.config = persistent.clone();
        let mut spec = sandboxed(fixture.spec([]));
        spec.resume = resumed.take();

        let (events, error) = played(&fixture, options, spec).await;

        assert!(error.is_none(), "{error:?} {events:?}");
        resumed = events.iter().find_map(|event| match event {
            StreamEvent::Started { session, .. } => Some(session.clone()),
            _ => None,
        });
    }
    fixture.server.verify();
}

async fn a_detached_tool_ends_with_the_sandbox(build: Build) {
    let stray = bash("(setsid sleep 600 >/dev/null 2>&1 &) ; echo 1 > begun");
    let fixture = Fixture::new(build, ModelScript::new([stray, Turn::text("Done.")]));

    let spec = sandboxed(fixture.spec([]));
    let (events, error) = played(&fixture, fixture.options(), spec).await;

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(fixture.file("begun").exists(), "{events:?}");
}

async fn a_session_does_not_start_if_its_sandbox_cannot_be_created(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new::<Turn>([]));
    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(None);
    let spec = sandboxed(fixture.spec([]));
    let error = ClaudeBackend::new(options.clone()).create(spec);
    let error = error.expect_err("there is none");
    assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");

    // A program that exists and cannot create a sandbox.
    options.program.sandbox = SandboxConfig::new(Some("/bin/false".into()));
    let (events, error) = played(&fixture, options, sandboxed(fixture.spec([]))).await;

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
    assert!(error.to_string().contains("bubblewrap"), "{error}");
}

async fn its_own_sandbox_is_refused_in_the_outer_sandbox(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new::<Turn>([]));
    let mut options = fixture.options();
    options.own_sandbox = Sandbox::Required;

    let refused = ClaudeBackend::new(options).create(sandboxed(fixture.spec([])));

    let error = refused.expect_err("it could not be made");
    assert_eq!(error.kind(), AgentErrorKind::Unsupported, "{error}");
    assert!(error.remedy().is_some());
}

on_newer_build![
    allowed_commands_write_only_the_project,
    a_command_reaches_the_network_that_the_program_has,
    nothing_is_reachable_without_a_network,
    hidden_paths_are_not_visible,
    a_persistent_conversation_is_resumed,
    a_detached_tool_ends_with_the_sandbox,
    a_session_does_not_start_if_its_sandbox_cannot_be_created,
    its_own_sandbox_is_refused_in_the_outer_sandbox,
];
