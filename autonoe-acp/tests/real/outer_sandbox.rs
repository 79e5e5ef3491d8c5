//! Tests of the outer sandbox with the real program.

use autonoe_acp::{AcpBackend, AcpOptions, HomeFolder};
use autonoe_backend::{SandboxConfig, SandboxNetwork};
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, Sandbox, SessionField};
use autonoe_core::gate::Grants;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, SessionSpec, StreamEvent};
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, collect_events, shell, within, write};

fn sandboxed(mut spec: SessionSpec) -> SessionSpec {
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    spec
}

/// Returns the outputs of the calls of a stream.
fn outputs(events: &[StreamEvent]) -> Vec<(&str, ToolStatus)> {
    let outputs = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { output, status, .. } => Some((output.as_str(), *status)),
        _ => None,
    });
    outputs.collect()
}

/// Plays a session in which every permission request is refused, and returns its events.
async fn run_without_prompts(
    fixture: &Fixture,
    options: AcpOptions,
    spec: SessionSpec,
) -> Vec<StreamEvent> {
    let mut client = AcpBackend::new(options)
        .create(spec)
        .expect("it can be made");
    let (events, error) = collect_events(client.as_mut(), "Look around.").await;
    within(client.dispose()).await.expect("it ends");
    assert!(error.is_none(), "{error:?}");
    fixture.assert_nothing_is_left();
    events
}

#[tokio::test]
async fn a_session_that_requires_a_sandbox_is_refused_without_one() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let mut spec = fixture.spec();
    spec.sandbox = Sandbox::Required;
    let error = fixture.agents().create(spec).expect_err("there is none");
    assert_eq!(
        error.kind(),
        AgentErrorKind::Unclaimed(SessionField::Sandbox)
    );

    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(None);
    let agents = AcpBackend::new(options);
    let spec = sandboxed(fixture.spec());
    let error = agents.create(spec).expect_err("there is none");

    assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
}

#[tokio::test]
async fn a_session_does_not_start_without_a_working_sandbox() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let mut options = fixture.options();
    options.program.sandbox = SandboxConfig::new(Some("/bin/false".into()));
    let agents = AcpBackend::new(options);
    let spec = sandboxed(fixture.spec());
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Are you there?").await;
    within(client.dispose()).await.expect("it ends");

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn an_ungated_echo_cannot_list_hidden_files() {
    for is_inside in [false, true] {
        let folders = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let secrets = folders.path().canonicalize().expect("it is there");
        std::fs::write(secrets.join("a-secret-name"), "").expect("writable");
        let list = shell(&format!("echo {}/*", secrets.display()));
        let fixture = Fixture::new(ModelScript::new([list, Turn::text("Seen.")]));
        let mut options = fixture.options();
        options.program.sandbox.hidden.push(secrets);
        let mut spec = fixture.spec_with(Grants::none());
        if is_inside {
            spec = sandboxed(spec);
        }

        let events = run_without_prompts(&fixture, options, spec).await;

        let [(output, status)] = outputs(&events)[..] else {
            panic!("{events:?}");
        };
        // Nothing is granted: with a permission request, it would not have run.
        assert_eq!(status, ToolStatus::Ok);
        assert_eq!(output.contains("a-secret-name"), !is_inside, "{output}");
    }
}

#[tokio::test]
async fn allowed_commands_write_only_the_project_and_end_with_the_sandbox() {
    let stray = "(setsid sleep 600 >/dev/null 2>&1 &) ; echo 1 > begun";
    let outside_dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let outside = outside_dir.path().join("outside.txt");
    let fixture = Fixture::new(ModelScript::new([
        write("inside.txt", "1\n"),
        shell(&format!("echo 1 > {}", outside.display())),
        shell("echo 1 > .autonoe/status.json"),
        shell("echo 1 > /tmp/private.txt && cat /tmp/private.txt > copied.txt"),
        // The settings with the permissions of the session.
        shell("echo {} > $GEMINI_CLI_SYSTEM_SETTINGS_PATH && echo 1 > written"),
        shell(stray),
        Turn::text("Done."),
    ]));
    std::fs::create_dir(fixture.file(".autonoe")).expect("it can be made");
    let mut client = fixture.client(sandboxed(fixture.spec()));

    let (events, error) = collect_events(client.as_mut(), "Write everywhere.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert_eq!(outputs(&events).len(), 6, "{events:?}");
    let names = [".autonoe", "begun", "copied.txt", "inside.txt"];
    assert_eq!(fixture.names(), names, "{events:?}");
    assert!(!outside.exists());
    assert!(!fixture.file(".autonoe/status.json").exists());
    assert!(!std::path::Path::new("/tmp/private.txt").exists());
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn nothing_is_reachable_without_a_network() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("I am here."))).unverified();
    // With more than one attempt, the program retries for minutes before it reports the failure.
    let home = fixture.folder.join("home");
    let settings = json!({"general": {"maxAttempts": 1}});
    std::fs::create_dir_all(home.join(".gemini")).expect("it can be made");
    std::fs::write(home.join(".gemini/settings.json"), settings.to_string()).expect("writable");
    let mut options = fixture.options();
    options.home = HomeFolder::Persistent(home);
    options.program.sandbox.network = SandboxNetwork::Off;
    let agents = AcpBackend::new(options);
    let mut client = agents
        .create(sandboxed(fixture.spec()))
        .expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Are you there?").await;
    within(client.dispose()).await.expect("it ends");

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert!(error.to_string().contains("fetch failed"), "{error}");
    assert!(fixture.server.log().main_requests().is_empty());
    fixture.assert_nothing_is_left();
}

/// Writes project settings that allow commands and start a server.
fn tempt(fixture: &Fixture) {
    let server = json!({"command": "touch", "args": [fixture.file("server")], "trust": true});
    let settings = json!({
        "mcpServers": {"evil": server},
        "tools": {"allowed": ["run_shell_command"]},
    });
    std::fs::create_dir(fixture.file(".gemini")).expect("it can be made");
    std::fs::write(fixture.file(".gemini/settings.json"), settings.to_string()).expect("writable");
}

#[tokio::test]
async fn settings_of_the_project_do_not_weaken_the_sandbox() {
    let script = ModelScript::new([shell("touch trace.txt"), Turn::text("Done.")]);
    let fixture = Fixture::new(script);
    tempt(&fixture);
    let spec = sandboxed(fixture.spec_with(Grants::none()));

    let events = run_without_prompts(&fixture, fixture.options(), spec).await;

    let statuses: Vec<_> = outputs(&events)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, [ToolStatus::Denied], "{events:?}");
    assert_eq!(fixture.names(), [".gemini"]);
}

#[tokio::test]
async fn a_project_with_settings_is_refused_without_a_sandbox() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    tempt(&fixture);
    let mut client = fixture.client(fixture.spec());

    let (_, error) = collect_events(client.as_mut(), "Look.").await;
    within(client.dispose()).await.expect("it ends");

    assert_eq!(
        error.expect("it is refused").kind(),
        AgentErrorKind::Configuration
    );
    assert_eq!(fixture.names(), [".gemini"]);
    fixture.assert_nothing_is_left();
}
