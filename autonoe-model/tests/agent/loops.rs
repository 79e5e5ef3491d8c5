//! Tests of the loop between a model and its tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, Budget, CostUsd, StreamEvent, ToolOutput};
use autonoe_model::{Message, MessagePart, ModelReply, StopReason};
use serde_json::json;
use tokio::sync::Barrier;

use crate::agent::fixture::{
    Answer, ScriptedModel, TestTool, agents, calls, echo, one_turn, reply, spec, text_reply,
    turn_of,
};

#[tokio::test(start_paused = true)]
async fn agent_calls_tool_and_ends_with_answer() {
    let model = ScriptedModel::new([
        reply([
            MessagePart::text("I look."),
            MessagePart::tool_call("c1", "Echo", json!({"text": "found"})),
        ]),
        text_reply("It is there."),
    ]);

    let turn = one_turn(&agents(&model, [echo()], |_| {}), "Is it there?").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    assert_eq!(turn.texts(), ["I look.", "It is there."]);
    assert_eq!(turn.responses(), [("c1", "found", ToolStatus::Ok)]);
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].messages.len(), 3);
    assert_eq!(requests[0].messages[0], Message::user("Is it there?"));
    assert!(
        requests[0]
            .system
            .as_deref()
            .is_some_and(|text| text.contains("/srv/project"))
    );
}

#[tokio::test(start_paused = true)]
async fn denied_tool_is_not_called_and_reason_is_sent() {
    let called = Arc::new(AtomicUsize::new(0));
    let counted = called.clone();
    let forbidden = TestTool::writes("Forbidden", move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(ToolOutput::new("done")) }
    });
    let model = ScriptedModel::new([
        calls(&[("c1", "Forbidden", json!({}))]),
        text_reply("A pity."),
    ]);

    let turn = one_turn(&agents(&model, [forbidden], |_| {}), "Do it.").await;

    assert_eq!(called.load(Ordering::Relaxed), 0);
    let responses = turn.responses();
    assert!(
        matches!(responses[..], [("c1", _, ToolStatus::Denied)]),
        "{responses:?}"
    );
    let requests = model.requests();
    let Message::Results { results } = &requests[1].messages[2] else {
        panic!("{requests:?}")
    };
    assert!(results[0].is_error && results[0].output == responses[0].1);
}

#[tokio::test(start_paused = true)]
async fn unknown_tool_is_an_error_for_the_model() {
    let model = ScriptedModel::new([calls(&[("c1", "Look", json!({}))]), text_reply("I see.")]);

    let turn = one_turn(&agents(&model, [echo()], |_| {}), "Look.").await;

    let responses = turn.responses();
    assert!(
        matches!(responses[..], [("c1", _, ToolStatus::Error)]),
        "{responses:?}"
    );
    assert!(
        responses[0].1.contains("there is no tool Look"),
        "{responses:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn read_only_calls_run_in_parallel() {
    // No call passes the barrier alone.
    let barrier = Arc::new(Barrier::new(3));
    let tool = TestTool::reads("Look", move |_, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(ToolOutput::new("seen"))
        }
    });
    let three = [
        ("a", "Look", json!({})),
        ("b", "Look", json!({})),
        ("c", "Look", json!({})),
    ];
    let model = ScriptedModel::new([calls(&three), text_reply("Done.")]);

    let turn = one_turn(&agents(&model, [tool], |_| {}), "Look.").await;

    assert_eq!(turn.responses().len(), 3);
    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
}

#[tokio::test(start_paused = true)]
async fn calls_that_change_something_run_one_after_the_other() {
    let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let change = TestTool::writes("Change", move |_, _| {
        let (under_way, most) = (under_way.clone(), most.clone());
        async move {
            let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            under_way.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutput::new("changed"))
        }
    });
    let two = [("a", "Change", json!({})), ("b", "Change", json!({}))];
    let model = ScriptedModel::new([calls(&two), text_reply("Done.")]);

    let turn = one_turn(&agents(&model, [change], |_| {}), "Change.").await;

    assert_eq!(seen.load(Ordering::SeqCst), 1);
    let ids: Vec<_> = turn.responses().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_has_at_most_fifty_rounds() {
    let model = ScriptedModel::following(|_| calls(&[("c", "Echo", json!({"text": "x"}))]));

    let turn = one_turn(&agents(&model, [echo()], |_| {}), "For ever.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::MaxTurns));
    assert_eq!(model.requests().len(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_session_can_override_the_round_limit() {
    let model = ScriptedModel::following(|_| calls(&[("c", "Echo", json!({"text": "x"}))]));
    let agents = agents(&model, [echo()], |_| {});
    let mut spec = spec(Budget::default());
    spec.max_turns = Some(3);

    let mut client = agents.create(spec).expect("it can be made");
    let turn = turn_of(client.as_mut(), "For ever.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::MaxTurns));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_tokens_or_its_money_are_spent() {
    for budget in [
        Budget::default().with_tokens(60),
        Budget::default().with_cost(CostUsd::from_cents(6)),
    ] {
        let model = ScriptedModel::following(|_| calls(&[("c", "Echo", json!({"text": "x"}))]));
        let agents = agents(&model, [echo()], |options| {
            // A cent per ten tokens.
            let prices = r#"{"scripted/model": {"input": "1000", "output": "1000"}}"#;
            options.prices = serde_json::from_str(prices).expect("prices");
        });

        let mut client = agents.create(spec(budget)).expect("it can be made");
        let turn = turn_of(client.as_mut(), "For ever.").await;

        assert_eq!(
            turn.outcome(),
            Some(&SessionOutcome::BudgetExceeded),
            "{budget:?}"
        );
        assert_eq!(
            (model.requests().len(), turn.tokens()),
            (3, 60),
            "{budget:?}"
        );
        let Some(StreamEvent::End { cost, .. }) = turn.events.last() else {
            panic!("{turn:?}")
        };
        assert_eq!(*cost, Some(CostUsd::from_cents(6)));
    }
}

#[tokio::test(start_paused = true)]
async fn cost_of_model_without_price_is_unknown() {
    let model = ScriptedModel::new([text_reply("Done.")]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Do it.").await;

    let Some(StreamEvent::End { cost, .. }) = turn.events.last() else {
        panic!("{turn:?}")
    };
    assert_eq!(*cost, None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_at_its_length_limit_continues() {
    let cut = |text: &str| {
        let Answer::Replies(reply) = text_reply(text) else {
            unreachable!()
        };
        Answer::Replies(reply.with_stop(StopReason::MaxTokens))
    };
    let model = ScriptedModel::new([cut("One, "), cut("two, "), text_reply("three.")]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Count.").await;

    assert_eq!(turn.texts(), ["One, ", "two, ", "three."]);
    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_an_error_of_the_agent() {
    let refused = ModelReply::new(Default::default()).with_stop(StopReason::Refused);
    let model = ScriptedModel::new([Answer::Replies(refused)]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Do it.").await;

    let outcome = turn.outcome();
    assert!(
        matches!(outcome, Some(SessionOutcome::ExecutionError { .. })),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_turn_continues_the_conversation() {
    let model = ScriptedModel::new([text_reply("Four."), text_reply("Five.")]);
    let agents = agents(&model, [], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");

    turn_of(client.as_mut(), "Two and two?").await;
    let turn = turn_of(client.as_mut(), "And one?").await;

    assert_eq!(turn.texts(), ["Five."]);
    assert_eq!(model.requests()[1].messages.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn unsupported_resume_is_refused_before_start() {
    let model = ScriptedModel::new([]);
    let agents = agents(&model, [], |_| {});
    let mut resumed = spec(Budget::default());
    resumed.resume = Some(autonoe_core::time::AgentSessionId::new("earlier"));

    let error = agents.create(resumed).expect_err("it cannot");

    assert_eq!(error.code(), "resume_not_supported");
}
