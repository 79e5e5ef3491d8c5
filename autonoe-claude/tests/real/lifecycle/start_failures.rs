//! Programs that start, and report that they cannot work.

use std::fs;
use std::os::unix::fs::symlink;

use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder, LoginCheck};
use autonoe_core::agent::{AgentErrorKind, Sandbox, SessionField, Support};
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentClientFactory, AgentError, SessionSpec};
use autonoe_process::find_program;
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, Login, collect_events, within};

/// Sends a prompt, and returns the error. Asserts that nothing is left.
async fn failure(fixture: &Fixture, options: ClaudeOptions, spec: SessionSpec) -> AgentError {
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
    error.unwrap_or_else(|| panic!("{events:?}"))
}

fn without_a_model(build: Build, login: Login) -> Fixture {
    Fixture::with_login(build, ModelScript::new::<Turn>([]), login)
}

async fn a_program_without_credentials(build: Build) {
    let fixture = without_a_model(build, Login::None);

    let error = failure(&fixture, fixture.options(), fixture.spec([])).await;

    assert_eq!(error.kind(), AgentErrorKind::Authentication, "{error}");
    assert!(error.to_string().contains("Not logged in"), "{error}");
    let remedy = error.remedy().expect("there is one");
    assert!(remedy.contains("/login") && remedy.contains("ANTHROPIC_API_KEY"));
}

async fn missing_credentials_are_detected_before_a_run_if_requested(build: Build) {
    for (login, found) in [
        (Login::None, autonoe_claude::Login::Missing),
        (Login::ApiKey, autonoe_claude::Login::Found),
    ] {
        let fixture = without_a_model(build, login);
        let mut options = fixture.options();
        options.login_check = LoginCheck::AtProbe;
        let agents = ClaudeBackend::new(options);

        let examined = agents.probe_details().await.expect("it is there");
        let probed = agents.probe().await;

        assert_eq!(examined.login, found);
        match found {
            autonoe_claude::Login::Missing => {
                let error = probed.expect_err("it could not work");
                assert_eq!(error.kind(), AgentErrorKind::Authentication, "{error}");
                assert!(error.remedy().is_some_and(|it| it.contains("/login")));
            }
            _ => assert!(probed.is_ok(), "{probed:?}"),
        }
        fixture.assert_nothing_is_left();
    }
}

async fn an_unknown_conversation(build: Build) {
    let fixture = without_a_model(build, Login::ApiKey);
    let mut options = fixture.options();
    options.config = ConfigFolder::Persistent(fixture.folder.join("home"));
    for id in ["3f0c8a52-6d1e-4b7a-9c3d-2e5f8a1b4c6d", "no-id-at-all"] {
        let mut spec = fixture.spec([]);
        spec.resume = Some(AgentSessionId::new(id));

        let error = failure(&fixture, options.clone(), spec).await;

        assert_eq!(error.kind(), AgentErrorKind::Configuration, "{error}");
        assert!(error.to_string().contains(id), "{error}");
    }
}

async fn a_sandbox_that_cannot_be_created(build: Build) {
    let fixture = without_a_model(build, Login::ApiKey);
    // All programs that Claude Code needs, and none that its sandbox needs.
    let programs = fixture.folder.join("bin");
    fs::create_dir(&programs).expect("it can be made");
    let path = std::env::var_os("PATH").expect("set");
    for name in ["bash", "sh", "cat", "which"] {
        let program = find_program(name, &path).expect("it is there");
        symlink(program, programs.join(name)).expect("it can be made");
    }
    let mut options = fixture.options();
    options
        .program
        .environment
        .insert("PATH".into(), programs.into());
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;

    let capabilities = ClaudeBackend::new(options.clone()).probe().await;
    let error = failure(&fixture, options, spec).await;

    let capabilities = capabilities.expect("it is there");
    assert_eq!(capabilities.sandbox, Support::No);
    let problem = capabilities.sandbox_problem.expect("it is known");
    assert_eq!(problem, "bwrap and socat are not on PATH");
    let remedy = &capabilities.remedies[&SessionField::Sandbox];
    assert!(remedy.contains("apt install bubblewrap socat"), "{remedy}");
    assert_eq!(error.kind(), AgentErrorKind::Configuration, "{error}");
    assert!(
        error
            .to_string()
            .contains("Sandbox required but unavailable"),
        "{error}"
    );
}

on_newer_build![
    a_program_without_credentials,
    missing_credentials_are_detected_before_a_run_if_requested,
    an_unknown_conversation,
    a_sandbox_that_cannot_be_created,
];
