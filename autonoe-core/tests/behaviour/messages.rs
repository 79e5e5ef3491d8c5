//! Messages to a run are delivered, whatever the session does.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::{AgentError, CostUsd, RunReport, StreamEvent};
use autonoe_testkit::SessionScript;

use crate::behaviour::own_backend::{Item, MINUTE, done, planner, run_with};
use crate::behaviour::support::{Fixture, plans, status};

/// Runs and sends it a message one second after its start.
async fn run_and_instruct_to_use_tabs(runner: SessionRunnerBuilder) -> RunReport {
    run_with(runner, async |control| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.instruct("use tabs");
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_control_that_panics_ends_neither_the_run_nor_keeps_it_from_disposing() {
    let mut backend = planner(MINUTE, |_| vec![done()]);
    backend.steer_panics = true;
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);
    run_and_instruct_to_use_tabs(runner).await;
    let seen = backend.seen();
    assert_eq!(seen.disposed, 2);
    assert!(
        seen.prompts[1].contains("use tabs"),
        "it was not delivered, so it is told"
    );

    let mut backend = planner(Duration::ZERO, |_| vec![done()]);
    backend.control_panics = true;
    let fixture = Fixture::new([]);
    fixture
        .run(
            fixture
                .runner()
                .agents(Arc::new(backend.clone()))
                .max_iterations(2),
        )
        .await;
    assert_eq!(backend.seen().disposed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_arrived_at_the_last_moment_is_not_sent_twice() {
    let mut backend = planner(Duration::from_secs(11), |_| vec![done()]);
    backend.steer_takes = Duration::from_secs(10);
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);

    run_and_instruct_to_use_tabs(runner).await;

    let seen = backend.seen();
    assert_eq!(seen.steered, ["use tabs"]);
    assert!(!seen.prompts[1].contains("use tabs"), "{:?}", seen.prompts);
}

#[tokio::test(start_paused = true)]
async fn a_message_to_a_crashed_session_is_resent() {
    let crashed = || Err(AgentError::new(AgentErrorKind::Crashed, "it crashed"));
    let backend = planner(Duration::from_secs(11), move |number| {
        vec![if number == 1 { crashed() } else { done() }]
    });
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);

    run_and_instruct_to_use_tabs(runner).await;

    assert!(backend.seen().prompts[1].contains("use tabs"));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_no_session_follows_is_in_the_report() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("passes")
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .waits(MINUTE)
            .ends(),
    ]);

    let report = run_with(fixture.runner(), async |control| {
        tokio::time::sleep(MINUTE / 2).await;
        control.instruct("also do B");
    })
    .await;

    assert_eq!(report.undelivered_messages, ["also do B"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_the_agent_did_not_read_is_sent_to_the_next_session_once() {
    let max_turns = || {
        Ok(StreamEvent::end(
            SessionOutcome::MaxTurns,
            Some(CostUsd::ZERO),
        ))
    };
    let crashed = || Err(AgentError::new(AgentErrorKind::Crashed, "it crashed"));
    let ends: [fn() -> Item; 3] = [done, max_turns, crashed];
    for (index, end) in ends.into_iter().enumerate() {
        let mut backend = planner(Duration::from_secs(11), move |number| {
            vec![if number == 1 { end() } else { done() }]
        });
        backend.is_deaf = true;
        let fixture = Fixture::new([]);
        let runner = fixture
            .runner()
            .agents(Arc::new(backend.clone()))
            .max_iterations(2);

        run_and_instruct_to_use_tabs(runner).await;

        let prompts = backend.seen().prompts;
        assert_eq!(
            prompts[1].matches("use tabs").count(),
            1,
            "{index}: {prompts:?}"
        );
    }
}
