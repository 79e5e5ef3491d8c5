//! Programs that end early or send invalid messages.

use std::time::Duration;

use autonoe_codex::CodexBackend;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentClientFactory, StreamEvent};
use futures::StreamExt;
use serde_json::json;

use crate::fake_program::{FakeProgram, command, ended, notification, question};
use crate::fake_requests::COMMAND_APPROVAL;
use crate::fixture::{TIMEOUT, collect_events, within};

pub(crate) async fn play(
    fake: &FakeProgram,
) -> (Vec<StreamEvent>, Option<autonoe_core::AgentError>) {
    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    within(client.dispose()).await.expect("it ends");
    fake.fixture.assert_nothing_is_left();
    (events, error)
}

pub(crate) fn outcome(events: &[StreamEvent]) -> Option<SessionOutcome> {
    events.iter().find_map(|event| match event {
        StreamEvent::End { outcome, .. } => Some(outcome.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn a_program_that_exits_at_any_point_has_crashed() {
    let started_item = notification(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let request = question(
        "q",
        COMMAND_APPROVAL,
        json!({"itemId": "c", "command": "/bin/bash -c ls"}),
    );
    let in_turn = format!(
        "{}\n{started_item}\n{request}\n@EXIT",
        notification("turn/started", json!({"turn": {"id": "u"}}))
    );
    for (method, lines) in [
        ("initialize", "@EXIT"),
        ("thread/start", "@EXIT"),
        ("turn/start", "@EXIT"),
        ("turn/start", in_turn.as_str()),
    ] {
        let fake = FakeProgram::new().sends(method, lines);

        let (events, error) = play(&fake).await;

        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(AgentErrorKind::Crashed), "{method} {events:?}");
    }
}

#[tokio::test]
async fn a_program_that_never_answers_is_not_waited_for() {
    let times_out = |method: &'static str| async move {
        let fake = FakeProgram::new().sends(method, "no JSON");
        let limit = Duration::from_secs(10);
        let mut options = fake.options();
        options.program.start_limit = match method {
            "turn/start" => TIMEOUT,
            _ => limit,
        };
        options.program.silence_limit = limit;
        let agents = autonoe_codex::CodexBackend::new(options);
        let mut client = agents.create(fake.fixture.spec([])).expect("it can be");

        let (events, error) = collect_events(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");

        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(AgentErrorKind::Timeout), "{method} {events:?}");
        let received = fake.received();
        let is_received = received.iter().any(|line| line["method"] == method);
        assert!(is_received, "{method} {received:?}");
        fake.fixture.assert_nothing_is_left();
    };

    futures::future::join_all(["initialize", "thread/start", "turn/start"].map(times_out)).await;
}

/// A status that is neither ready nor failed is not a report.
#[tokio::test]
async fn a_session_starts_without_an_optional_server_that_is_never_reported() {
    let status = json!({"name": "browser", "status": "resting", "threadId": "t"});
    let fake = FakeProgram::new().in_its_turn(&[ended("u", "completed")]);
    let lines = format!(
        "{}\n{}",
        std::fs::read_to_string(fake.fixture.folder.join("play/thread.start"))
            .expect("it is there"),
        json!({"method": "mcpServer/startupStatus/updated", "params": status}),
    );
    let fake = fake.sends("thread/start", &lines);
    let mut options = fake.options();
    // This is also the time limit of the start itself, on a busy machine.
    options.program.start_limit = Duration::from_secs(15);
    let mut spec = fake.fixture.spec([]);
    let server = json!({"command": "/bin/false"});
    let server = serde_json::from_value(server).expect("a server");
    spec.mcp_servers.insert("browser".to_owned(), server);
    spec.optional_servers = ["browser"].into_iter().collect();

    let mut client = CodexBackend::new(options).create(spec).expect("it can be");
    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
}

/// It could have been a request, for whose answer the program would wait forever.
#[tokio::test]
async fn an_unreadable_line_ends_the_session() {
    let deep = format!("{}1{}", "[".repeat(130), "]".repeat(130));
    let line = format!(r#"{{"id":"q","method":"item/tool/call","params":{{"arguments":{deep}}}}}"#);
    let fake = FakeProgram::new().sends("turn/start", &line);

    let (events, error) = play(&fake).await;

    let kind = error.map(|error| error.kind());
    assert_eq!(kind, Some(AgentErrorKind::Protocol), "{events:?}");
}

#[tokio::test]
async fn the_end_of_another_turn_is_not_the_end() {
    let fake = FakeProgram::new();
    let message = json!({"item": {"type": "agentMessage", "id": "m", "text": "Hello."}});
    let turn_started = notification(
        "turn/started",
        json!({"turn": {"id": "u", "status": "inProgress"}}),
    );
    let other = json!({"method": "turn/completed", "params":
        {"threadId": "elsewhere", "turn": {"id": "u", "status": "completed"}}});
    let lines = [
        ended("earlier", "completed"),
        turn_started,
        ended("earlier", "completed"),
        other,
        notification("item/completed", message),
        ended("u", "completed"),
    ];
    let fake = fake.answers("turn/start", &json!({"turn": {"id": "u"}}), &lines);

    let (events, error) = play(&fake).await;

    assert!(error.is_none(), "{error:?}");
    assert!(events.contains(&StreamEvent::text("Hello.")), "{events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
}

#[tokio::test]
async fn a_rejected_steering_message_is_an_error() {
    let fake = FakeProgram::new().sends(
        "turn/steer",
        r#"{"id":@ID,"error":{"code":-32600,"message":"no active turn to steer"}}"#,
    );
    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    let control = client.control();

    let refused = {
        let mut stream = client.query("Do it.".into());
        let started = within(stream.next()).await;
        assert!(
            matches!(started, Some(Ok(StreamEvent::Started { .. }))),
            "{started:?}"
        );
        within(control.steer("hurry up")).await
    };
    client.dispose().await.expect("it ends");

    let error = refused.expect_err("it is not taken");
    assert!(error.to_string().contains("no active turn"), "{error}");
}

#[tokio::test]
async fn a_query_after_a_stream_that_was_dropped_is_answered() {
    let fake = FakeProgram::new();
    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    {
        let mut stream = client.query("Wait.".into());
        let started = within(stream.next()).await;
        assert!(
            matches!(started, Some(Ok(StreamEvent::Started { .. }))),
            "{started:?}"
        );
    }

    let fake = fake.in_its_turn(&[ended("u", "completed")]);
    let (events, error) = collect_events(client.as_mut(), "Again.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
    fake.fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn warnings_of_the_program_are_reported_once() {
    let warned = json!({"method": "configWarning", "params": {"summary": "a setting is ignored"}});
    let repeated = notification("warning", json!({"message": "a setting is ignored"}));
    let fake = FakeProgram::new()
        .answers("initialize", &json!({}), &[warned, repeated])
        .in_its_turn(&[ended("u", "completed")]);

    let (events, error) = play(&fake).await;

    assert!(error.is_none(), "{error:?}");
    assert!(
        matches!(events[0], StreamEvent::Started { .. }),
        "{events:?}"
    );
    let warning = StreamEvent::warning("a setting is ignored");
    let warnings = events.iter().filter(|event| **event == warning);
    assert_eq!(warnings.count(), 1, "{events:?}");
}
