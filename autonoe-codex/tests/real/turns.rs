//! Turns with interrupts, steering, limits and failures, and their events.

use std::time::Duration;

use autonoe_codex::Effort;
use autonoe_core::StreamEvent;
use autonoe_core::agent::{SessionOutcome, ThinkingBudget, TokenUsage};
use autonoe_testkit::model_server::{ModelScript, Refusal, ScriptedMessage, Turn, Usage};
use futures::StreamExt;

use crate::fixture::{Fixture, collect_events, eventually, within};
use crate::model::shell;

fn outcome(events: &[StreamEvent]) -> Option<&SessionOutcome> {
    events.iter().find_map(|event| match event {
        StreamEvent::End { outcome, .. } => Some(outcome),
        _ => None,
    })
}

#[tokio::test]
async fn an_interrupted_turn_ends_its_command_and_the_session_continues() {
    let turns = [
        shell("echo 1 > begun; sleep 600"),
        Turn::text("Back again."),
    ];
    let fixture = Fixture::new(ModelScript::new(turns));
    let mut client = fixture.client(fixture.spec([]));
    let control = client.control();

    let mut events = Vec::new();
    {
        let mut stream = client.query("Wait.".into());
        let listened = async {
            while let Some(event) = stream.next().await {
                events.push(event.expect("no error"));
            }
        };
        let interrupted = async {
            fixture.written("begun").await;
            control.interrupt().await.expect("it can be");
        };
        within(async { tokio::join!(listened, interrupted) }).await;
    }
    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::Interrupted),
        "{events:?}"
    );
    let sleeps = || {
        fixture
            .processes()
            .iter()
            .any(|process| process.name == "sleep")
    };
    eventually("the end of the command", || !sleeps()).await;

    let (events, error) = collect_events(client.as_mut(), "Go on.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert!(
        events.contains(&StreamEvent::text("Back again.")),
        "{events:?}"
    );
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_steering_message_reaches_the_model() {
    let turns = [
        shell("echo 1 > begun; while [ ! -e go ]; do sleep 0.05; done"),
        Turn::text("Yes."),
    ];
    let fixture = Fixture::new(ModelScript::new(turns));
    let mut client = fixture.client(fixture.spec([]));
    let control = client.control();

    {
        let mut stream = client.query("Wait.".into());
        let listened = async { while stream.next().await.is_some() {} };
        let steered = async {
            fixture.written("begun").await;
            control.steer("and hurry up").await.expect("it can be");
            std::fs::write(fixture.file("go"), "").expect("writable");
        };
        within(async { tokio::join!(listened, steered) }).await;
    }
    client.dispose().await.expect("it ends");

    let requests = fixture.server.log().main_requests();
    let texts = requests[1].user_texts();
    assert!(
        texts.iter().any(|text| text.contains("and hurry up")),
        "{texts:?}"
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn usage_is_reported_for_each_model_call() {
    let response = |text: &str| {
        ScriptedMessage::new()
            .says(text)
            .with_usage(Usage::new(100, 10))
    };
    let fixture = Fixture::new(ModelScript::new([response("One."), response("Two.")]));
    let mut client = fixture.client(fixture.spec([]));

    for _ in 0..2 {
        let (events, error) = collect_events(client.as_mut(), "Go on.").await;

        assert!(error.is_none(), "{error:?}");
        let used: Vec<_> = events
            .iter()
            .filter(|event| matches!(event, StreamEvent::Usage { .. }))
            .collect();
        let tokens = TokenUsage {
            input: 100,
            output: 10,
            ..TokenUsage::default()
        };
        assert_eq!(used, [&StreamEvent::usage(tokens, None)]);
    }
    client.dispose().await.expect("it ends");
}

#[tokio::test]
async fn reasoning_is_emitted() {
    let turn = ScriptedMessage::new().thinks("Let me see.").says("Hello.");
    let fixture = Fixture::new(ModelScript::new([turn]));
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let expected = [
        StreamEvent::thinking("Let me see."),
        StreamEvent::text("Hello."),
    ];
    let reported: Vec<_> = events
        .iter()
        .filter(|event| expected.contains(event))
        .cloned()
        .collect();
    assert_eq!(reported, expected, "{events:?}");
}

#[tokio::test]
async fn a_session_calls_the_model_as_often_as_it_may() {
    let number = std::sync::atomic::AtomicUsize::new(0);
    let script = ModelScript::from_fn(move |_| {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        shell(&format!("touch {number}.txt"))
    });
    let fixture = Fixture::new(script).unverified();
    let mut spec = fixture.spec([]);
    spec.max_turns = Some(3);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Go on.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::MaxTurns),
        "{events:?}"
    );
    // The tool calls of the third model call have run, and nothing else. A fourth model call may
    // have started.
    assert_eq!(fixture.files(), ["0.txt", "1.txt", "2.txt"]);
    let requests = fixture.server.log().main_requests().len();
    assert!(requests <= 4, "{requests}");
    // The usage of a fourth call is reported if it was answered before it could be stopped.
    let is_usage = |event: &&StreamEvent| matches!(event, StreamEvent::Usage { .. });
    let reported = events.iter().filter(is_usage).count();
    assert!((3..=requests).contains(&reported), "{events:?}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_session_that_needs_all_of_its_turns_completes() {
    let turns = [shell("true"), shell("true"), Turn::text("Done.")];
    let fixture = Fixture::new(ModelScript::new(turns));
    let mut spec = fixture.spec([]);
    spec.max_turns = Some(3);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Go on.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert_eq!(outcome(&events), Some(&SessionOutcome::Completed));
    fixture.server.verify();
}

#[tokio::test]
async fn the_reasoning_effort_reaches_the_model() {
    for (tokens, effort) in [
        (Some(2048), "low"),
        (Some(8192), "medium"),
        (Some(32_768), "high"),
        (None, "minimal"),
    ] {
        let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
        let mut spec = fixture.spec([]);
        spec.thinking = tokens.map(|tokens| ThinkingBudget::new(tokens).expect("enough"));
        let mut options = fixture.options();
        options.effort = Some(Effort::Minimal);
        let mut client = autonoe_core::AgentClientFactory::create(
            &autonoe_codex::CodexBackend::new(options),
            spec,
        )
        .expect("it can be made");

        let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
        client.dispose().await.expect("it ends");

        assert!(error.is_none(), "{error:?} {events:?}");
        let requests = fixture.server.log().main_requests();
        assert_eq!(requests[0].raw["reasoning"]["effort"], effort);
    }
}

/// Otherwise disabled features could be enabled.
#[tokio::test]
async fn the_program_knows_all_our_settings() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let warned = |event: &&StreamEvent| matches!(event, StreamEvent::Warning { .. });
    assert_eq!(events.iter().find(warned), None);
}

#[tokio::test]
async fn failures_of_the_service_have_their_kinds() {
    for (refusal, code) in [
        (Refusal::unauthorized(), "authentication"),
        (Refusal::server_error(), "overloaded"),
        (Refusal::rate_limited(), "overloaded"),
        (Refusal::model_not_found("gpt-5.5"), "configuration"),
    ] {
        let repeated = refusal.clone();
        let script = ModelScript::from_fn(move |_| repeated.clone().into());
        let fixture = Fixture::new(script).unverified();
        let mut client = fixture.client(fixture.spec([]));

        let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
        client.dispose().await.expect("it ends");

        let error = error.map(|error| error.code());
        assert_eq!(error, Some(code), "{refusal:?} {events:?}");
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_ends_the_turn() {
    let fixture =
        Fixture::new(ModelScript::from_fn(|_| Turn::text("Nobody hears this."))).unverified();
    let mut options = fixture.options();
    let provider = options.provider.as_mut().expect("there is one");
    // Nothing listens on this port.
    provider.base_url = "http://127.0.0.1:9/v1".to_owned();
    let agents = autonoe_codex::CodexBackend::new(options);
    let mut client = autonoe_core::AgentClientFactory::create(&agents, fixture.spec([]))
        .expect("it can be made");

    let ended = tokio::time::timeout(
        Duration::from_secs(60),
        collect_events(client.as_mut(), "Hello?"),
    );
    let (events, error) = ended.await.expect("it does not wait forever");
    client.dispose().await.expect("it ends");

    let error = error.unwrap_or_else(|| panic!("{events:?}"));
    assert!(error.is_retryable(), "{error:?}");
    fixture.assert_nothing_is_left();
}
