//! Programs that ask for what they may not, or do not ask.

use std::time::Duration;

use autonoe_core::{
    AgentClientFactory, AgentErrorKind, HookDecision, PreToolUseHook, ProjectPaths, SessionOutcome,
    StreamEvent, ToolCall, ToolStatus,
};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::odd_program::{OddProgram, command, ended, notice, question};
use crate::odd_stories::{outcome, play};
use crate::setting::{events_of, within};

/// Asks whether a command may run.
pub(crate) const ASKS: &str = "item/commandExecution/requestApproval";

#[tokio::test]
async fn what_was_never_announced_or_is_of_another_conversation_is_refused() {
    let item = command("c", "ls", "inProgress");
    let announced = notice("item/started", json!({"item": item}));
    let ask = |call: &str| json!({"itemId": call, "command": "/bin/bash -c ls"});
    let mut elsewhere = question("elsewhere", ASKS, ask("c"));
    elsewhere["params"]["threadId"] = json!("other");
    let mut more = ask("c");
    more["additionalPermissions"] = json!({"network": {"enabled": true}});
    let odd = OddProgram::new().in_its_turn(&[
        question("never", ASKS, ask("nobody")),
        announced,
        elsewhere,
        question("more", ASKS, more),
        // The call was decided about, so it is not asked about again.
        question("again", ASKS, ask("c")),
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

    let mut client = odd
        .agents()
        .create(odd.setting.spec([]))
        .expect("it can be");
    let told = async {
        let (events, error) = events_of(client.as_mut(), "Do it.").await;
        assert!(error.is_none(), "{error:?} {events:?}");
    };
    told.await;
    client.dispose().await.expect("it ends");

    for (id, expected) in [
        ("elsewhere", json!({"decision": "decline"})),
        ("rights", json!({"permissions": {}})),
        ("person", json!({"answers": {}})),
    ] {
        let answers = odd.answers_to(id);
        assert_eq!(answers.len(), 1, "{id} {answers:?}");
        assert_eq!(answers[0]["result"], expected, "{id}");
    }
    let new = odd.answers_to("new");
    assert_eq!(new[0]["error"]["code"], -32601, "{new:?}");
    for line in odd.heard() {
        assert_ne!(line["result"]["decision"], "accept", "{line}");
    }
}

#[tokio::test]
async fn a_program_that_acts_without_asking_is_not_used_any_more() {
    let search = json!({"type": "webSearch", "id": "w", "query": "x"});
    let patch = json!({"type": "fileChange", "id": "p", "status": "completed", "changes": []});
    for item in [command("c", "ls", "completed"), patch, search] {
        let odd = OddProgram::new().in_its_turn(&[
            notice("item/completed", json!({"item": item})),
            ended("u", "completed"),
        ]);

        let (events, error) = play(&odd).await;

        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(AgentErrorKind::Protocol), "{item} {events:?}");
    }
}

/// The gate would allow it, but nobody wants it any more.
#[tokio::test]
async fn nothing_is_allowed_after_an_interruption() {
    let begun = notice(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let asked = question(
        "late",
        ASKS,
        json!({"itemId": "c", "command": "/bin/bash -c ls"}),
    );
    let odd = OddProgram::new().answers(
        "turn/interrupt",
        &json!({}),
        &[begun, asked, ended("u", "interrupted")],
    );
    let mut client = odd
        .agents()
        .create(odd.setting.spec([]))
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
    let answers = odd.answers_to("late");
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["result"]["decision"], "decline");
}

/// Its answer counts, not what was announced before.
#[tokio::test]
async fn a_command_for_another_shell_is_refused() {
    let begun = notice(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let asked = json!({"itemId": "c", "command": "/bin/sh -c ls"});
    let declined = command("c", "ls", "declined");
    let odd = OddProgram::new()
        .in_its_turn(&[begun, question("q", ASKS, asked)])
        .answers(
            "turn/steer",
            &json!({}),
            &[
                notice("item/completed", json!({"item": declined})),
                ended("u", "completed"),
            ],
        );

    let (events, error) = play(&odd).await;

    assert!(error.is_none(), "{error:?}");
    let refused: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse { status, .. } => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!(refused, [ToolStatus::Denied], "{events:?}");
    let heard: Vec<Value> = odd.heard();
    let told = heard.iter().find(|line| line["method"] == "turn/steer");
    let told = told.expect("a reason")["params"]["input"][0]["text"].to_string();
    assert!(told.contains("Bash"), "{told}");
}

/// Panics, or never answers.
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
        let begun = notice(
            "item/started",
            json!({"item": command("c", "ls", "inProgress")}),
        );
        let asked = json!({"itemId": "c", "command": "/bin/bash -c ls"});
        let declined = json!({"item": command("c", "ls", "declined")});
        let odd = OddProgram::new()
            .in_its_turn(&[begun, question("q", ASKS, asked)])
            .answers(
                "turn/steer",
                &json!({}),
                &[notice("item/completed", declined), ended("u", "completed")],
            );
        let mut options = odd.options();
        options.answer_limit = Duration::from_millis(300);
        let mut spec = odd.setting.spec([]);
        spec.gate = spec.gate.with_hook(std::sync::Arc::new(Broken { panics }));
        let agents = autonoe_codex::CodexAgents::new(options);
        let mut client = agents.create(spec).expect("it can be");

        let (events, error) = events_of(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");

        assert!(error.is_none(), "{error:?}");
        for line in odd.heard() {
            assert_ne!(line["result"]["decision"], "accept", "{panics} {line}");
        }
        let steered = odd.heard().into_iter();
        let steered = steered.filter(|line| line["method"] == "turn/steer");
        assert_eq!(steered.count(), 1, "{panics} {events:?}");
    }
}

/// The program may tell late that a command of an earlier turn is over.
#[tokio::test]
async fn a_command_that_was_allowed_in_an_earlier_turn_may_end_in_this_one() {
    let begun = notice(
        "item/started",
        json!({"item": command("c", "ls", "inProgress")}),
    );
    let asked = json!({"itemId": "c", "command": "/bin/bash -c ls"});
    let odd = OddProgram::new().in_its_turn(&[begun, question("q", ASKS, asked)]);
    let mut client = odd
        .agents()
        .create(odd.setting.spec([]))
        .expect("it can be");
    let control = client.control();
    {
        let mut stream = client.query("Do it.".into());
        let listened = async { while stream.next().await.is_some() {} };
        let stopped = async {
            crate::setting::eventually("the answer", || !odd.answers_to("q").is_empty()).await;
            control.interrupt().await.expect("it can be");
        };
        within(async { tokio::join!(listened, stopped) }).await;
    }
    assert_eq!(odd.answers_to("q")[0]["result"]["decision"], "accept");

    let over = json!({"item": command("c", "ls", "completed")});
    let odd = odd.in_its_turn(&[notice("item/completed", over), ended("u", "completed")]);
    let (events, error) = events_of(client.as_mut(), "Go on.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
    odd.setting.assert_nothing_is_left();
}
