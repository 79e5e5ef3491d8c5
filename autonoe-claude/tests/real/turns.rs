//! Single turns of a session: text, allowed calls and denied calls.

use autonoe_core::HookDecision;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{StreamEvent, hook_fn};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events};

async fn agent_text_is_streamed(build: Build) {
    let fixture = Fixture::new(
        build,
        ModelScript::new([Turn::text("Hello from the script.")]),
    );
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(
        matches!(events.first(), Some(StreamEvent::Started { .. })),
        "{events:?}"
    );
    assert!(
        events.contains(&StreamEvent::text("Hello from the script.")),
        "{events:?}"
    );
    assert!(
        matches!(
            events.last(),
            Some(StreamEvent::End {
                outcome: SessionOutcome::Completed,
                cost: Some(_),
                ..
            })
        ),
        "{events:?}"
    );
    fixture.server.verify();
}

async fn an_allowed_command_runs_and_a_denied_one_leaves_no_trace(build: Build) {
    let script = ModelScript::new([
        Turn::tool(
            "Bash",
            json!({"command": "echo yes > allowed.txt", "description": "write"}),
        ),
        Turn::tool(
            "Bash",
            json!({"command": "echo no > denied.txt", "description": "write"}),
        ),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::new(build, script);
    let mut spec = fixture.spec([]);
    spec.gate = spec.gate.with_hook(hook_fn("no", |call, _| {
        match call.input["command"].as_str() {
            Some(command) if command.contains("denied") => HookDecision::block("not this one"),
            _ => HookDecision::Pass,
        }
    }));
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Write both.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let statuses: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse { status, .. } => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [ToolStatus::Ok, ToolStatus::Denied], "{events:?}");
    assert!(fixture.project().join("allowed.txt").exists());
    assert!(!fixture.project().join("denied.txt").exists());
}

on_newer_build![
    agent_text_is_streamed,
    an_allowed_command_runs_and_a_denied_one_leaves_no_trace,
];
