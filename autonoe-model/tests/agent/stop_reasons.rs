//! Tests of answers that did not end normally.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, Budget, Tool, ToolOutput};
use autonoe_model::{Message, MessagePart, ModelRequest, StopReason};
use serde_json::json;

use crate::agent::fixture::{
    Answer, ScriptedModel, TestTool, agents, calls, echo, one_turn, reply, spec, text_reply,
    turn_of, with_stop,
};

fn malformed() -> StopReason {
    StopReason::Failed("MALFORMED_FUNCTION_CALL".into())
}

/// Returns the last message to the model.
fn last(request: &ModelRequest) -> String {
    match request.messages.last() {
        Some(Message::User { text }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns a tool that counts its calls.
fn counting(name: &str) -> (Arc<dyn Tool>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let tool = TestTool::writes(name, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::new("done")) }
    });
    (tool, count)
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_provider_rejected_is_requested_a_second_time() {
    let (tool, count) = counting("Change");
    let model = ScriptedModel::new([
        with_stop(reply([]), malformed()),
        with_stop(calls(&[("c1", "Change", json!({}))]), malformed()),
        with_stop(text_reply("I call"), malformed()),
        text_reply("Done."),
    ]);

    let turn = one_turn(&agents(&model, [tool], |_| {}), "Go.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    assert_eq!(
        count.load(Ordering::SeqCst),
        0,
        "nothing of it is carried out"
    );
    for request in &model.requests()[1..] {
        assert!(last(request).contains("could not be parsed"), "{request:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeatedly_unparsed_answer_is_an_error_with_the_stop_reason() {
    let model = ScriptedModel::following(|_| with_stop(reply([]), malformed()));

    let turn = one_turn(&agents(&model, [], |_| {}), "Go.").await;

    let Some(SessionOutcome::ExecutionError { messages }) = turn.outcome() else {
        panic!("{turn:?}")
    };
    assert!(
        messages[0].contains("MALFORMED_FUNCTION_CALL"),
        "{messages:?}"
    );
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn unknown_stop_reason_needs_text_to_complete() {
    let tired = || StopReason::Other("tired".into());
    let model = ScriptedModel::new([with_stop(text_reply("Done."), tired())]);
    let turn = one_turn(&agents(&model, [], |_| {}), "Go.").await;
    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));

    let thinks = reply([MessagePart::thinking("Hm.")]);
    let model = ScriptedModel::new([with_stop(thinks, tired())]);
    let turn = one_turn(&agents(&model, [], |_| {}), "Go.").await;
    let Some(SessionOutcome::ExecutionError { messages }) = turn.outcome() else {
        panic!("{turn:?}")
    };
    assert!(messages[0].contains("tired"), "{messages:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_an_answer_that_was_withheld_is_not_carried_out() {
    let (tool, count) = counting("Change");
    let refused = calls(&[("c1", "Change", json!({}))]);
    let model = ScriptedModel::new([with_stop(refused, StopReason::Refused), text_reply("Well.")]);
    let agents = agents(&model, [tool], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");

    let turn = turn_of(client.as_mut(), "Go.").await;

    let outcome = turn.outcome();
    assert!(
        matches!(outcome, Some(SessionOutcome::ExecutionError { .. })),
        "{outcome:?}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The conversation can continue: the model checks that its calls are paired.
    let next = turn_of(client.as_mut(), "Go on.").await;
    assert_eq!(next.texts(), ["Well."]);
}

#[tokio::test(start_paused = true)]
async fn truncated_call_is_not_run_and_reason_is_sent() {
    let whole = ("c1", "Echo", json!({"text": "a"}));
    let cut = ("c2", "Change", json!("{\"text\": \"very long"));
    let (change, count) = counting("Change");
    let model = ScriptedModel::new([
        with_stop(calls(&[whole, cut]), StopReason::MaxTokens),
        text_reply("Done."),
    ]);

    let turn = one_turn(&agents(&model, [echo(), change], |_| {}), "Go.").await;

    assert_eq!(count.load(Ordering::SeqCst), 0);
    let responses = turn.responses();
    assert_eq!(responses[0], ("c1", "a", ToolStatus::Ok));
    assert_eq!((responses[1].0, responses[1].2), ("c2", ToolStatus::Error));
    assert!(responses[1].1.contains("was cut off"), "{responses:?}");
    assert!(last(&model.requests()[1]).contains("cut off"));
}

#[tokio::test(start_paused = true)]
async fn always_truncated_calls_end_the_turn() {
    let model = ScriptedModel::following(|_| {
        let cut = MessagePart::tool_call("c", "Echo", json!("{\"text\": \"very long"));
        with_stop(reply([cut]), StopReason::MaxTokens)
    });

    let turn = one_turn(&agents(&model, [echo()], |_| {}), "Go.").await;

    let Some(SessionOutcome::ExecutionError { messages }) = turn.outcome() else {
        panic!("{turn:?}")
    };
    assert!(messages[0].contains("length limit"), "{messages:?}");
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn calls_of_an_answer_that_fills_the_context_run_before_the_compaction() {
    let mut rounds = 0;
    let model = ScriptedModel::following(move |request| {
        if request.tools.is_empty() {
            return text_reply("It was looked at.");
        }
        rounds += 1;
        let id = format!("c{rounds}");
        let call = calls(&[(&id, "Echo", json!({"text": "x".repeat(3_000)}))]);
        match rounds {
            1 => call,
            2 => with_stop(call, StopReason::ContextFull),
            _ => text_reply("Done."),
        }
    });
    let agents = agents(&model, [echo()], |options| {
        let limits = r#"{"model": {"context": 20000, "output": 500}}"#;
        options.limits = serde_json::from_str(limits).expect("limits");
    });

    let turn = one_turn(&agents, "Go.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    assert_eq!(turn.responses().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_any_end_is_a_failure() {
    let model = ScriptedModel::new([Answer::Ends]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Go.").await;

    assert_eq!(
        turn.error.as_ref().map(|error| error.code()),
        Some("protocol")
    );
}
