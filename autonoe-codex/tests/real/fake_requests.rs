//! Programs that request too much, or act without permission.

use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, HookDecision, PreToolUseHook, StreamEvent, ToolCall};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::fake_program::{FakeProgram, command, ended, notification, question};
use crate::fake_sessions::{outcome, play};
use crate::fixture::{collect_events, within};

/// The approval request for a command.
pub(crate) const COMMAND_APPROVAL: &str = "item/commandExecution/requestApproval";

#[tokio::test]
async fn requests_for_unknown_calls_or_of_another_conversation_are_refused() {
    let item = command("c", "ls", "inProgress");
    let announced = notification("item/started", json!({"item": item}));
    let ask = |call: &str| json!({"itemId": call, "command": "/bin/bash -c ls"});
    let mut foreign = question("elsewhere", COMMAND_APPROVAL, ask("c"));
    foreign["params"]["threadId"] = json!("other");
    let mut more = ask("c");
    more["additionalPermissions"] = json!({"network": {"enabled": true}});
    let fake = FakeProgram::new().in_its_turn(&[
        question("never", COMMAND_APPROVAL, ask("nobody")),
        announced,
        foreign,
        question("more", COMMAND_APPROVAL, more),
        // The call was decided about, so a second request is refused.
        question("again", COMMAND_APPROVAL, ask("c")),
        question(
            "files",
            "item/fileChange/requestApproval",
            json!({"itemId": "c2"}),
        ),
        question(
            "rights",
            "item/permissions/requestApproval",
            json!({"itemId": "c3"}),
        ),
        question(
            "person",
            "item/tool/requestUserInput",
            json!({"itemId": "c4"}),
        ),
        question("new", "item/somethingNew", json!({})),
        ended("u", "completed"),
    ]);

    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    let turn = async {
        let (events, error) = collect_events(client.as_mut(), "Do it.").await;
        assert!(error.is_none(), "{error:?} {events:?}");
    };
    turn.await;
    client.dispose().await.expect("it ends");

    for (id, expected) in [
        ("elsewhere", json!({"decision": "decline"})),
        ("rights", json!({"permissions": {}})),
        ("person", json!({"answers": {}})),
    ] {
        let answers = fake.answers_to(id);
        assert_eq!(answers.len(), 1, "{id} {answers:?}");
        assert_eq!(answers[0]["result"], expected, "{id}");
    }
    let new = fake.answers_to("new");
    assert_eq!(new[0]["error"]["code"], -32601, "{new:?}");
    for line in fake.received() {
        assert_ne!(line["result"]["decision"], "accept", "{line}");
    }
}

#[tokio::test]
async fn a_program_that_acts_without_permission_is_not_used_any_more() {
    let search = json!({"type": "webSearch", "id": "w", "query": "x"});
    let patch = json!({"type": "fileChange", "id": "p", "status": "completed", "changes": []});
    for item in [command("c", "ls", "completed"), patch, search] {
        let fake = FakeProgram::new().in_its_turn(&[
            notification("item/completed", json!({"item": item})),
            ended("u", "completed"),
        ]);

        let (events, error) = play(&fake).await;

        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(AgentErrorKind::Protocol), "{item} {events:?}");
    }
}

/// The gate would allow it, but the turn was interrupted.
#[tokio::test]
async fn nothing_is_allowed_after_an_interruption() {
    let started = notification(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let request = question(
        "late",
        COMMAND_APPROVAL,
        json!({"itemId": "c", "command": "/bin/bash -c ls"}),
    );
    let fake = FakeProgram::new().answers(
        "turn/interrupt",
        &json!({}),
        &[started, request, ended("u", "interrupted")],
    );
    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    let control = client.control();

    let mut events = Vec::new();
    {
        let mut stream = client.query("Do it.".into());
        while let Some(event) = within(stream.next()).await {
            let event = event.expect("no error");
            if matches!(event, StreamEvent::Started { .. }) {
                control.interrupt().await.expect("it can be");
            }
            events.push(event);
        }
    }
    client.dispose().await.expect("it ends");

    assert_eq!(outcome(&events), Some(SessionOutcome::Interrupted));
    let answers = fake.answers_to("late");
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["result"]["decision"], "decline");
}

/// The command in the request counts, not the announced one.
#[tokio::test]
async fn a_command_for_another_shell_is_refused() {
    let started = notification(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let request = json!({"itemId": "c", "command": "/bin/sh -c ls"});
    let declined = command("c", "ls", "declined");
    let fake = FakeProgram::new()
        .in_its_turn(&[started, question("q", COMMAND_APPROVAL, request)])
        .answers(
            "turn/steer",
            &json!({}),
            &[
                notification("item/completed", json!({"item": declined})),
                ended("u", "completed"),
            ],
        );

    let (events, error) = play(&fake).await;

    assert!(error.is_none(), "{error:?}");
    let refused: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse { status, .. } => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!(refused, [ToolStatus::Denied], "{events:?}");
    let received: Vec<Value> = fake.received();
    let turn = received.iter().find(|line| line["method"] == "turn/steer");
    let turn = turn.expect("a reason")["params"]["input"][0]["text"].to_string();
    assert!(turn.contains("Bash"), "{turn}");
}

/// A hook that panics, or never answers.
#[derive(Debug)]
struct Broken {
    panics: bool,
}

#[async_trait::async_trait]
impl PreToolUseHook for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    async fn check(&self, _call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        assert!(!self.panics, "it breaks");
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_hook_that_breaks_or_never_answers_refuses() {
    for panics in [true, false] {
        let started = notification(
            "item/started",
            json!({"item": command("c", "ls", "inProgress")}),
        );
        let request = json!({"itemId": "c", "command": "/bin/bash -c ls"});
        let declined = json!({"item": command("c", "ls", "declined")});
        let fake = FakeProgram::new()
            .in_its_turn(&[started, question("q", COMMAND_APPROVAL, request)])
            .answers(
                "turn/steer",
                &json!({}),
                &[
                    notification("item/completed", declined),
                    ended("u", "completed"),
                ],
            );
        let mut options = fake.options();
        options.program.answer_limit = Duration::from_millis(300);
        let mut spec = fake.fixture.spec([]);
        spec.gate = spec.gate.with_hook(std::sync::Arc::new(Broken { panics }));
        let agents = autonoe_codex::CodexBackend::new(options);
        let mut client = agents.create(spec).expect("it can be");

        let (events, error) = collect_events(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");

        assert!(error.is_none(), "{error:?}");
        for line in fake.received() {
            assert_ne!(line["result"]["decision"], "accept", "{panics} {line}");
        }
        let steered = fake.received().into_iter();
        let steered = steered.filter(|line| line["method"] == "turn/steer");
        assert_eq!(steered.count(), 1, "{panics} {events:?}");
    }
}

/// The program may report late that a command of an earlier turn is finished.
#[tokio::test]
async fn a_command_that_was_allowed_in_an_earlier_turn_may_end_in_this_one() {
    let started = notification(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let request = json!({"itemId": "c", "command": "/bin/bash -c ls"});
    let fake = FakeProgram::new().in_its_turn(&[started, question("q", COMMAND_APPROVAL, request)]);
    let mut client = fake
        .agents()
        .create(fake.fixture.spec([]))
        .expect("it can be");
    let control = client.control();
    {
        let mut stream = client.query("Do it.".into());
        let listened = async { while stream.next().await.is_some() {} };
        let stopped = async {
            crate::fixture::eventually("the answer", || !fake.answers_to("q").is_empty()).await;
            control.interrupt().await.expect("it can be");
        };
        within(async { tokio::join!(listened, stopped) }).await;
    }
    assert_eq!(fake.answers_to("q")[0]["result"]["decision"], "accept");

    let over = json!({"item": command("c", "ls", "completed")});
    let fake = fake.in_its_turn(&[
        notification("item/completed", over),
        ended("u", "completed"),
    ]);
    let (events, error) = collect_events(client.as_mut(), "Go on.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
    fake.fixture.assert_nothing_is_left();
}
