//! Each fault has its documented effect on a session.

use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClientFactory, CostUsd, RunId, SessionSpec, StreamEvent};
use autonoe_testkit::{Fault, FaultyAgents, ScriptedBackend, SessionScript};
use futures::{FutureExt, StreamExt};
use serde_json::json;

fn spec(number: u32) -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number,
    };
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_tool("Task"),
    );
    SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
}

/// Injects `fault` into a session that sends a text, calls a tool and ends.
async fn disturbed(fault: Fault) -> (FaultyAgents, Vec<String>) {
    let script = SessionScript::new("works")
        .uses_tool("Task", json!({}))
        .says("done")
        .costs(CostUsd::from_cents(5))
        .ends();
    let agents =
        FaultyAgents::new(ScriptedBackend::new([script]).unverified(), 5).with_fault_in(1, fault);
    let mut client = agents.create(spec(1)).expect("there is a script");
    let mut lines = Vec::new();
    let mut stream = client.query("go".into());
    loop {
        let next = std::panic::AssertUnwindSafe(stream.next()).catch_unwind();
        lines.push(
            match tokio::time::timeout(Duration::from_secs(3600), next).await {
                Err(_) => "silence".to_owned(),
                Ok(Err(_)) => "panic".to_owned(),
                Ok(Ok(None)) => "over".to_owned(),
                Ok(Ok(Some(Err(error)))) => {
                    lines.push(format!("error: {error}"));
                    continue;
                }
                Ok(Ok(Some(Ok(event)))) => {
                    lines.push(line(&event));
                    continue;
                }
            },
        );
        break;
    }
    drop(stream);
    client.dispose().await.expect("it disposes");
    (agents, lines)
}

fn line(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Started { .. } => "started".to_owned(),
        StreamEvent::Text { text, .. } => text.clone(),
        StreamEvent::ToolInvocation { call_id, .. } => format!("{call_id}?"),
        StreamEvent::ToolResponse { call_id, .. } => format!("{call_id}!"),
        StreamEvent::End { outcome, cost, .. } => {
            let cost = cost.map_or("unknown".to_owned(), |cost| cost.to_string());
            match outcome {
                SessionOutcome::Completed => format!("completed for {cost}"),
                SessionOutcome::QuotaExceeded { .. } => "quota".to_owned(),
                other => format!("{other:?}"),
            }
        }
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_changes_the_stream_as_documented() {
    let call = ["started", "call-1-1?", "call-1-1!", "done"];
    let uninterrupted = [&call[..], &["completed for $0.05", "over"]].concat();
    let cases = [
        (Fault::MissingEnd, [&call[..], &["over"]].concat()),
        (
            Fault::ErrorAfterEnd,
            vec![
                "started",
                "call-1-1?",
                "call-1-1!",
                "done",
                "completed for $0.05",
                "error: the fault injector fails after the end",
                "over",
            ],
        ),
        (
            Fault::QuotaInTool,
            vec!["started", "call-1-1?", "quota", "over"],
        ),
        (
            Fault::DuplicateCallIds,
            vec![
                "started",
                "call-1-1?",
                "call-1-1?",
                "call-1-1!",
                "call-1-1!",
                "done",
                "completed for $0.05",
                "over",
            ],
        ),
        (Fault::SlowDrip, uninterrupted),
    ];
    for (fault, expected) in cases {
        let (agents, lines) = disturbed(fault).await;

        assert_eq!(lines, expected, "{fault}");
        assert_eq!(agents.hits().len(), 1, "{fault}");
        assert_eq!((agents.created(), agents.disposed()), (1, 1), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_in_the_middle_end_there() {
    let cases = [
        (Fault::CutStream, "over"),
        (Fault::Silence, "silence"),
        (Fault::Panic, "panic"),
    ];
    for (fault, last) in cases {
        let (agents, lines) = disturbed(fault).await;

        assert_eq!(lines.last().map(String::as_str), Some(last), "{lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("completed")));
        assert_eq!(agents.hits()[0].fault, fault);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_drip_takes_time() {
    let started = tokio::time::Instant::now();

    disturbed(Fault::SlowDrip).await;

    assert!(
        started.elapsed() >= Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_wrong_cost_is_reported_at_the_end() {
    let (agents, lines) = disturbed(Fault::WrongCost).await;

    assert_eq!(agents.hits()[0].to_string(), "session 1: wrong cost");
    assert!(
        !lines.contains(&"completed for $0.05".to_owned()),
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_fault_hits_the_session_that_the_test_chooses_whatever_the_seed() {
    for seed in 0..20 {
        let scripts = [(); 3].map(|()| SessionScript::new("works").ends());
        let agents = ScriptedBackend::new(scripts).unverified();
        let agents = FaultyAgents::new(agents, seed).with_fault_in(2, Fault::MissingEnd);

        for number in 1..=3 {
            let mut client = agents.create(spec(number)).expect("there is a script");
            client.query("go".into()).collect::<Vec<_>>().await;
        }

        let planned: Vec<_> = (1..=3).map(|number| agents.planned(number)).collect();
        assert_eq!(planned, [None, Some(Fault::MissingEnd), None]);
        let hits: Vec<_> = agents.hits().iter().map(ToString::to_string).collect();
        assert_eq!(hits, ["session 2: missing end"], "seed {seed}");
    }
}

#[test]
fn a_fault_rate_also_applies_to_sessions_without_a_planned_fault() {
    let agents = FaultyAgents::new(ScriptedBackend::new([]), 1)
        .with_faults([Fault::Panic])
        .with_rate_percent(100)
        .with_fault_in(2, Fault::Silence);

    assert_eq!(agents.planned(1), Some(Fault::Panic));
    assert_eq!(agents.planned(2), Some(Fault::Silence));
}
