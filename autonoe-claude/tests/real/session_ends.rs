//! Sessions that Claude Code does not finish on its own.

use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::anthropic::{ModelScript, Refusal, Turn};
use serde_json::json;

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events};

/// The default number of retries of the program.
const MAX_RETRIES: usize = 10;

async fn refused_credentials_are_reported_at_once(build: Build) {
    let script = ModelScript::from_fn(|_| Refusal::unauthorized().into());
    let fixture = Fixture::new(build, script).unverified();
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(error.kind(), AgentErrorKind::Authentication, "{error}");
    let request_count = fixture.server.log().main_requests().len();
    assert!(
        request_count < MAX_RETRIES,
        "it was tried {request_count} times"
    );
}

async fn a_server_in_the_background_does_not_keep_a_session_open(build: Build) {
    let script = ModelScript::new([
        Turn::tool(
            "Bash",
            json!({
                "command": "echo 1 > alive; sleep 600",
                "description": "serve", "run_in_background": true,
            }),
        ),
        Turn::text("It serves."),
    ]);
    let fixture = Fixture::new(build, script).unverified();
    let mut options = fixture.options();
    options.background_grace = Duration::from_secs(2);
    let agents = autonoe_claude::ClaudeBackend::new(options);
    let mut client = agents.create(fixture.spec([])).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Serve.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let completed = |event: &StreamEvent| {
        matches!(
            event,
            StreamEvent::End {
                outcome: SessionOutcome::Completed,
                ..
            }
        )
    };
    assert!(events.last().is_some_and(completed), "{events:?}");
    let names_it = |event: &StreamEvent| matches!(event, StreamEvent::Warning { message, .. } if message.ends_with(": serve"));
    assert!(events.iter().any(names_it), "{events:?}");
    fixture.assert_nothing_is_left();
}

on_newer_build![
    refused_credentials_are_reported_at_once,
    a_server_in_the_background_does_not_keep_a_session_open,
];
