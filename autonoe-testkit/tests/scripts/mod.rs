//! Scripted agents are strict: a deviation from the script fails the test with the name of the
//! step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionField, SessionOutcome, Support};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::{AgentSessionId, SessionKey};
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClientFactory, Capabilities, RunControl, RunId, RunReport, SessionRunner, SessionSpec,
    StreamEvent,
};
use autonoe_testkit::{Expectation, ScriptedBackend, SessionScript, ToolUse, VirtualClock};
use futures::StreamExt;
use jiff::Timestamp;
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

/// Plays session 1 to its end and returns the events of its stream.
async fn play(agents: &ScriptedBackend) -> Vec<StreamEvent> {
    let mut client = agents.create(spec(1)).expect("there is a script");
    let events = client
        .query("go".into())
        .filter_map(|item| async { item.ok() })
        .collect()
        .await;
    client.dispose().await.expect("it disposes");
    events
}

async fn run(agents: &Arc<ScriptedBackend>) -> RunReport {
    let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));
    SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .bash_security(|_: &str| Verdict::Allow)
        .clock(Arc::new(VirtualClock::new()))
        .max_retries(0)
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await
}

/// Removes the problems, so that dropping the agents does not fail the test.
fn problems(agents: ScriptedBackend) -> Vec<String> {
    let problems = agents.problems();
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(agents)));
    assert_eq!(
        dropped.is_err(),
        !problems.is_empty(),
        "the drop tells of problems, and only then"
    );
    problems
}

fn two_scripts() -> [SessionScript; 2] {
    [
        SessionScript::new("first").ends(),
        SessionScript::new("second").ends(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_script_that_was_played_as_written_has_no_problems() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .says("hello")
        .uses_tool("Task", json!({}))
        .ends()]);

    let events = play(&agents).await;

    assert_eq!(events.len(), 5);
    assert_eq!(problems(agents), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_never_started_is_a_problem() {
    let agents = ScriptedBackend::new(two_scripts());

    play(&agents).await;

    assert_eq!(problems(agents), ["session 2 (second) never started"]);
}

#[test]
fn unplayed_scripts_do_not_hide_the_build_error_of_a_run() {
    let agents = Arc::new(ScriptedBackend::new(two_scripts()));
    assert_eq!(agents.problems().len(), 2);

    let refused = SessionRunner::builder("/srv/project")
        .agents(agents)
        .repository(Arc::new(MemoryRepository::new()))
        .build();

    // Both the builder and the agents are dropped by now.
    let error = refused.expect_err("it has no instructions");
    assert!(error.to_string().contains("instructions"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_script_that_was_already_played_is_reported_as_such() {
    let agents = ScriptedBackend::new(two_scripts());
    play(&agents).await;

    let refused = agents.create(spec(1)).expect_err("it was played");

    let expected = "session 1 (coding) has no script left: \"first\" was already played; create new \
         scripted agents for each run";
    assert_eq!(refused.to_string(), expected);
    assert_eq!(
        problems(agents),
        [expected, "session 2 (second) never started"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_without_a_script_is_a_problem_and_an_error() {
    let agents = ScriptedBackend::new([]);

    let refused = agents.create(spec(4));

    assert!(refused.is_err());
    assert_eq!(
        problems(agents),
        ["there is no script for session 4 (coding)"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_never_reached_is_named() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .says("one")
        .waits(Duration::from_secs(60))
        .says("two")
        .ends()]);
    let mut client = agents.create(spec(1)).expect("there is a script");
    let mut stream = client.query("go".into());
    assert!(stream.next().await.is_some());
    drop(stream);
    drop(client);

    assert_eq!(
        problems(agents),
        ["session 1 (works) never finished step 2: it waits 60s"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_go_as_expected_is_named() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .uses_tool("WebSearch", json!({"query": "x"}))
        .calls(ToolUse::new("Task", json!({})).expecting(Expectation::Denied))
        .fails_tool("Task", json!({}))
        .calls(ToolUse::new("WebSearch", json!({})).expecting(Expectation::Anything))
        .ends()]);

    play(&agents).await;

    let problems = problems(agents);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(
        problems[0].starts_with(
            "session 1 (works) step 1: WebSearch {\"query\":\"x\"} was expected to be Runs, \
             but it was Denied: denied by grants"
        ),
        "{}",
        problems[0]
    );
    assert!(problems[1].contains("step 2: Task {} was expected to be Denied, but it was Ok"));
    assert!(problems[2].contains("step 3: Task {} was expected to be Fails, but it was Ok"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_denied_by_another_one_is_named() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .is_denied_by("grants", "WebSearch", json!({}))
        .is_denied_by("bash-security", "WebSearch", json!({}))
        .is_denied_by("grants", "Task", json!({}))
        .ends()]);

    play(&agents).await;

    let problems = problems(agents);
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(
        problems[0].contains(
            "step 2: WebSearch {} was expected to be DeniedBy(\"bash-security\"), but it was \
             Denied: denied by grants"
        ),
        "{}",
        problems[0]
    );
    assert!(
        problems[1]
            .contains("step 3: Task {} was expected to be DeniedBy(\"grants\"), but it was Ok"),
        "{}",
        problems[1]
    );
}

#[tokio::test(start_paused = true)]
async fn a_field_that_is_not_claimed_is_refused() {
    let agents = ScriptedBackend::new([SessionScript::new("works").ends()]).unverified();
    let mut resumed = spec(1);
    resumed.resume = Some(AgentSessionId::new("earlier"));

    let refused = agents.create(resumed).expect_err("resume is not claimed");

    assert_eq!(
        refused.kind(),
        AgentErrorKind::Unclaimed(SessionField::Resume)
    );
    assert!(agents.create(spec(1)).is_ok(), "the script is still there");
}

#[tokio::test(start_paused = true)]
async fn a_script_that_is_never_played_after_a_refusal_is_reported_on_drop() {
    let agents = ScriptedBackend::new([SessionScript::new("works").ends()]);
    let mut resumed = spec(1);
    resumed.resume = Some(AgentSessionId::new("earlier"));

    let refused = agents.create(resumed).expect_err("resume is not claimed");

    assert_eq!(
        problems(agents),
        [
            format!("session 1 was refused: {refused}"),
            "session 1 (works) never started".to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_without_the_expected_text_is_a_problem() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .expects_in_prompt("SPEC.md")
        .ends()]);

    play(&agents).await;

    assert_eq!(
        problems(agents),
        ["session 1 (works) step 1: \"SPEC.md\" is not in the prompt \"go\""]
    );
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_panics_is_a_problem_with_its_message() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .performs(|_| panic!("the disk is full"))
        .says("on it goes")
        .ends()]);

    let events = play(&agents).await;

    assert!(matches!(events.last(), Some(StreamEvent::End { .. })));
    assert_eq!(
        problems(agents),
        ["session 1 (works) step 1: its closure panicked: the disk is full"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_is_a_problem() {
    let agents = ScriptedBackend::new([SessionScript::new("works").ends()]);
    let mut client = agents.create(spec(1)).expect("there is a script");
    client.query("go".into()).collect::<Vec<_>>().await;

    let second = client.query("again".into()).collect::<Vec<_>>().await;

    assert!(matches!(second.as_slice(), [Err(_)]));
    drop(client);
    assert_eq!(problems(agents), ["session 1 was prompted twice"]);
}

#[test]
fn a_failing_test_does_not_panic_twice() {
    let outcome = catch_unwind(|| {
        let _agents = ScriptedBackend::new([SessionScript::new("plans").ends()]);
        panic!("the test fails for its own reason");
    });

    let panic = outcome.expect_err("it panicked");
    assert_eq!(
        panic.downcast_ref::<&str>(),
        Some(&"the test fails for its own reason")
    );
}

#[tokio::test(start_paused = true)]
async fn calls_at_once_are_under_way_together() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .calls_at_once([
            ToolUse::new("Task", json!({"a": 1})),
            ToolUse::new("Task", json!({"b": 2})),
        ])
        .ends()]);

    let events = play(&agents).await;

    let shape: Vec<&str> = events
        .iter()
        .map(|event| match event {
            StreamEvent::ToolInvocation { .. } => "call",
            StreamEvent::ToolResponse {
                status: ToolStatus::Ok,
                ..
            } => "answer",
            _ => "other",
        })
        .collect();
    assert_eq!(
        shape,
        ["other", "call", "call", "answer", "answer", "other"]
    );
}

#[tokio::test(start_paused = true)]
async fn backend_records_sessions_and_decisions() {
    let agents = ScriptedBackend::new([SessionScript::new("works")
        .uses_tool("Task", json!({}))
        .is_denied_by("grants", "WebSearch", json!({}))
        .ends()]);

    play(&agents).await;

    let received = agents.received();
    assert_eq!(received.len(), 1);
    assert_eq!((received[0].number, received[0].prompt.as_str()), (1, "go"));
    let decided: Vec<_> = agents
        .decisions()
        .into_iter()
        .map(|(call, decision)| (call.id, call.name, decision.is_allowed()))
        .collect();
    assert_eq!(
        decided,
        [
            ("call-1-1".to_owned(), "Task".to_owned(), true),
            ("call-1-2".to_owned(), "WebSearch".to_owned(), false),
        ]
    );
    assert_eq!((agents.disposed(), agents.open_clients()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_turn_ends_as_such() {
    let agents = ScriptedBackend::new([SessionScript::new("works").says("x").hangs()]);
    let mut client = agents.create(spec(1)).expect("there is a script");
    let control = client.control();
    let mut stream = client.query("go".into());
    assert!(stream.next().await.is_some());

    control
        .interrupt()
        .await
        .expect("scripts can be interrupted");

    let rest: Vec<_> = stream.collect().await;
    assert!(matches!(
        rest.last(),
        Some(Ok(StreamEvent::End {
            outcome: SessionOutcome::Interrupted,
            ..
        }))
    ));
}

#[tokio::test(start_paused = true)]
async fn messages_are_delivered_only_with_the_steering_capability() {
    for (steering, expected) in [(Support::Yes, true), (Support::No, false)] {
        let agents = ScriptedBackend::new([SessionScript::new("works").hangs()]);
        let able = agents.capabilities().clone().with_steering(steering);
        let agents = agents.with_capabilities(able);
        let mut client = agents.create(spec(1)).expect("there is a script");
        let control = client.control();
        let mut stream = client.query("go".into());
        stream.next().await;

        let delivered = control.steer("hurry").await.is_ok();

        assert_eq!(delivered, expected);
        assert_eq!(agents.received()[0].steered.is_empty(), !expected);
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_resumed_script_counts_earlier_sessions_as_played() {
    let agents = ScriptedBackend::resuming_at(2, two_scripts());

    assert!(agents.create(spec(1)).is_err());
    let mut client = agents.create(spec(2)).expect("there is a script");
    client.query("go".into()).collect::<Vec<_>>().await;
    drop(client);

    let problems = problems(agents);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("\"first\" was already played"));
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_claims_little_is_not_started() {
    let agents =
        Arc::new(ScriptedBackend::new([]).with_capabilities(Capabilities::new("knows nothing")));

    let report = run(&agents).await;

    assert_eq!(report.exit.code(), "failed");
}

#[tokio::test(start_paused = true)]
async fn errors_of_every_kind_reach_the_report() {
    for kind in [
        AgentErrorKind::NotAvailable,
        AgentErrorKind::Authentication,
        AgentErrorKind::Billing,
        AgentErrorKind::Configuration,
        AgentErrorKind::Unsupported,
        AgentErrorKind::Unclaimed(SessionField::Resume),
        AgentErrorKind::Protocol,
        AgentErrorKind::Crashed,
        AgentErrorKind::Timeout,
        AgentErrorKind::Overloaded,
        AgentErrorKind::Other,
    ] {
        let agents = Arc::new(ScriptedBackend::new([
            SessionScript::new("fails").fails(kind, "it went wrong")
        ]));

        let report = run(&agents).await;

        let expected = if kind.is_retryable() {
            "max_retries_exceeded"
        } else {
            "failed"
        };
        assert_eq!(report.exit.code(), expected, "{kind:?}");
        assert!(report.to_string().contains("it went wrong"), "{report}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_for_an_instruction_is_played_for_any_session_number_and_the_last_one_repeats() {
    let agents = ScriptedBackend::new([]).for_instruction(
        "task-api",
        [
            SessionScript::new("first").says("one").ends(),
            SessionScript::new("then").says("two").ends(),
        ],
    );

    let mut texts = Vec::new();
    for _ in 0..3 {
        let mut spec = spec(1);
        spec.instruction = InstructionName::new("task-api");
        let mut client = agents.create(spec).expect("there is a script");
        let events: Vec<_> = client.query("go".into()).collect().await;
        client.dispose().await.expect("it disposes");
        texts.extend(events.into_iter().filter_map(|event| match event {
            Ok(StreamEvent::Text { text, .. }) => Some(text),
            _ => None,
        }));
    }

    assert_eq!(texts, ["one", "two", "two"]);
    assert!(agents.create(spec(1)).is_err(), "another instruction");
    assert_eq!(problems(agents).len(), 1);
}

#[tokio::test]
async fn the_reset_of_a_quota_is_counted_from_its_step() {
    let hour = Duration::from_secs(3600);
    let agents = ScriptedBackend::new([SessionScript::new("spends").hits_quota_for(hour)]);
    let before = Timestamp::now();

    let events = play(&agents).await;

    let Some(StreamEvent::End {
        outcome: SessionOutcome::QuotaExceeded { resets_at, .. },
        ..
    }) = events.last()
    else {
        panic!("{events:?}");
    };
    let reset = resets_at.expect("the time is known");
    assert!((before + hour..=Timestamp::now() + hour).contains(&reset));
}

#[tokio::test(start_paused = true)]
async fn a_file_is_written_for_real_if_the_gate_allows_it() {
    // Agents of a run may write to /tmp.
    let parent = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let folder = parent.path().join("project");
    std::fs::create_dir(&folder).expect("a folder");
    let agents = ScriptedBackend::new([SessionScript::new("writes")
        .writes("src/a.txt", "inside")
        .waits_for_file("src/a.txt")
        .writes("../b.txt", "outside")
        .ends()])
    .unverified();
    let gate = Gate::new(
        ProjectPaths::new(&folder),
        Grants::baseline(autonoe_core::Mode::Run),
    )
    .with_guard(Arc::new(autonoe_core::gate::FileScope::new(
        ProjectPaths::new(&folder),
    )));
    let mut spec = SessionSpec::new(spec(1).key, &folder, gate, Toolbox::new([]));
    spec.mode = autonoe_core::Mode::Run;
    let mut client = agents.create(spec).expect("there is a script");

    let _: Vec<_> = client.query("go".into()).collect().await;

    let written = std::fs::read_to_string(folder.join("src/a.txt"));
    assert_eq!(written.expect("it is there"), "inside");
    assert!(!parent.path().join("b.txt").exists());
}
