//! Defects of earlier systems of this kind, which must not recur.
//!
//! Numbered in the order of their discovery. Those that concern files, quota texts and the Bash
//! grammar are tested next to the code of those.

use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{ExitReason, Mode, RunControl};
use autonoe_testkit::SessionScript;
use serde_json::json;

use crate::behaviour::support::{Fixture, passes, plans};

fn ends_badly(outcome: SessionOutcome) -> SessionScript {
    SessionScript::new("ends badly")
        .says("working")
        .ends_with(outcome)
}

// Shows: spec/3.4/retry-reset
#[tokio::test(start_paused = true)]
async fn lesson_1_sessions_with_errors_do_not_reset_the_error_counter() {
    for outcome in [
        SessionOutcome::ExecutionError {
            messages: vec!["it broke".into()],
        },
        SessionOutcome::BudgetExceeded,
    ] {
        let fixture = Fixture::new(
            std::iter::once(plans(&["A"]))
                .chain(std::iter::repeat_n(ends_badly(outcome.clone()), 4)),
        );

        let report = fixture.run(fixture.runner().max_retries(3)).await;

        assert_eq!(report.exit.code(), "max_retries_exceeded", "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lesson_2_a_stream_without_an_end_is_an_error_of_unknown_cost() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("breaks off").uses_tool(
            "mcp__autonoe__set_status",
            crate::behaviour::support::status("A", "pending"),
        ),
    ]);

    let report = fixture.run(fixture.runner().max_retries(0)).await;

    let ExitReason::MaxRetriesExceeded { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "no_end");
    assert_eq!(report.cost.unknown_parts, 1);
}

// Shows: interfaces/agent-client/dispose
// Shows: interfaces/agent-client/lifecycle-sessions-are-independent
// Shows: interfaces/session-runner/client
#[tokio::test(start_paused = true)]
async fn lesson_3_every_session_is_disposed_of_also_after_errors() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("fails").fails(AgentErrorKind::Crashed, "it crashed"),
        SessionScript::new("breaks off").says("x"),
        SessionScript::new("panics").says("x").panics(),
        passes("A"),
    ]);

    fixture.run(fixture.runner()).await;

    assert_eq!(
        (fixture.agents.disposed(), fixture.agents.open_clients()),
        (5, 0)
    );
}

// Shows: interfaces/agent-client/delay-between-sessions-default-3000
#[tokio::test(start_paused = true)]
async fn lesson_4_the_pause_between_sessions_can_be_interrupted() {
    let fixture = Fixture::new([plans(&["A"])]);
    let control = RunControl::new();
    let day = Duration::from_secs(24 * 3600);
    let runner = fixture
        .runner()
        .pause_between_sessions(day)
        .build()
        .expect("parts fit");

    let (report, ()) = tokio::join!(runner.run(&control), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.cancel();
    });

    assert_eq!(report.elapsed, Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn lesson_5_waiting_without_a_known_reset_does_not_exit() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("hits the quota")
            .says("x")
            .hits_quota(None),
        passes("A"),
    ]);

    let report = fixture
        .run(fixture.runner().on_quota(autonoe_core::OnQuota::Wait))
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn lesson_7_verification_progress_survives_a_restart() {
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool(
                "mcp__autonoe__create",
                crate::behaviour::support::create(&["A", "B"]),
            )
            .ends(),
        SessionScript::new("verifies one")
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
    ]);
    fixture
        .run(fixture.runner().mode(Mode::Sync).max_iterations(2))
        .await;

    let state = fixture.state().await;

    assert_eq!(state.verification.verified_count(&state.ledger), 1);
}

#[tokio::test(start_paused = true)]
async fn lesson_8_responses_carry_the_ids_of_their_calls() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("works")
            .uses_tool("Bash", json!({"command": "ls"}))
            .uses_tool(
                "mcp__autonoe__set_status",
                crate::behaviour::support::status("A", "passed"),
            )
            .ends(),
    ]);

    fixture.run(fixture.runner()).await;

    let ids = |kind: &str| -> Vec<String> {
        let events = fixture.log.json();
        let stream = events.iter().map(|event| &event["stream"]);
        stream
            .filter(|event| event["type"] == kind)
            .map(|event| event["callId"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert_eq!(ids("stream_tool_invocation"), ids("stream_tool_response"));
    assert_eq!(ids("stream_tool_invocation").len(), 3);
}

// Shows: interfaces/hooks/built-autonoe-protection-hook, spec/6.2/autonoe-write
#[tokio::test(start_paused = true)]
async fn lesson_10_the_autonoe_guard_watches_every_tool_that_can_write() {
    let file = json!({"file_path": ".autonoe/status.json", "content": "", "edits": []});
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("tries every way")
            .is_denied_by("autonoe-protection", "Write", file.clone())
            .is_denied_by("autonoe-protection", "Edit", file.clone())
            .is_denied_by("autonoe-protection", "MultiEdit", file)
            .is_denied_by(
                "autonoe-protection",
                "NotebookEdit",
                json!({"notebook_path": ".autonoe/x.ipynb"}),
            )
            .is_denied_by(
                "autonoe-protection",
                "Bash",
                json!({"command": "cp x .autonoe/status.json"}),
            )
            .uses_tool(
                "mcp__autonoe__set_status",
                crate::behaviour::support::status("A", "passed"),
            )
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

// Shows: beyond/empty-sync
#[tokio::test(start_paused = true)]
async fn lesson_11_an_empty_sync_is_not_all_verified() {
    let empty = || {
        SessionScript::new("finds nothing")
            .says("nothing here")
            .ends()
    };
    let fixture = Fixture::new([empty(), empty()]);

    let report = fixture
        .run(fixture.runner().mode(Mode::Sync).max_retries(1))
        .await;

    let ExitReason::MaxRetriesExceeded { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "nothing_planned");
}

#[tokio::test(start_paused = true)]
async fn lesson_12_a_denied_call_does_not_end_the_session() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("continues after a denial")
            .is_denied_by(
                "file-scope",
                "Write",
                json!({"file_path": "/etc/passwd", "content": ""}),
            )
            .uses_tool(
                "mcp__autonoe__set_status",
                crate::behaviour::support::status("A", "passed"),
            )
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}
