//! Tests of decoding.

use autonoe_core::agent::TokenUsage;
use serde_json::json;

use super::*;
use crate::contract::{AssistantMessage, CallUsage, MessagePart, ModelErrorCode, StopReason};
use crate::wire::openai::testing::streamed;

const USED: TokenUsage = TokenUsage {
    input: 80,
    cache_read: 20,
    cache_write: 0,
    output: 7,
    reasoning: 3,
};

fn own(part: MessagePart, item: &Value) -> MessagePart {
    part.with_wire("openai-responses", item.clone())
}

#[test]
fn a_thought_a_text_and_two_calls_in_turns_are_one_answer() {
    let thought = reasoning(&["First.", "Second."]);
    let text = message("I look.");
    let one = call("call_1", "Read", r#"{"path": "a"}"#);
    let two = call("call_2", "Read", r#"{"path": "b"}"#);
    let arguments = "response.function_call_arguments.delta";
    let summary = "response.reasoning_summary_text.delta";
    let part = |n: u64| json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": n});

    let (new_events, reply) = answer(&[
        created(),
        added(0, &json!({"type": "reasoning", "summary": []})),
        part(0),
        delta(summary, 0, "First."),
        part(1),
        delta(summary, 0, "Second."),
        done(0, &thought),
        added(1, &json!({"type": "message", "content": []})),
        delta("response.output_text.delta", 1, "I "),
        delta("response.output_text.delta", 1, "look."),
        done(1, &text),
        added(2, &call("call_1", "Read", "")),
        added(3, &call("call_2", "Read", "")),
        delta(arguments, 3, r#"{"path": "#),
        delta(arguments, 2, r#"{"path": "a"}"#),
        delta(arguments, 3, r#""b"}"#),
        done(3, &two),
        done(2, &one),
        completed(),
    ]);

    let message = AssistantMessage::new([
        own(MessagePart::thinking("First.\n\nSecond."), &thought),
        own(MessagePart::text("I look."), &text),
        own(
            MessagePart::tool_call("call_1", "Read", json!({"path": "a"})),
            &one,
        ),
        own(
            MessagePart::tool_call("call_2", "Read", json!({"path": "b"})),
            &two,
        ),
    ]);
    let expected = ModelReply::new(message)
        .with_stop(StopReason::ToolUse)
        .with_usage(USED)
        .with_id("resp_1".to_owned())
        .with_model("gpt-5-2025-08-07".to_owned());
    assert_eq!(reply.expect("whole"), expected);
    let texts = ("I look.".into(), "First.\n\nSecond.".into());
    assert_eq!(streamed(&new_events), texts);
    let call_event = |id: &str| ModelEvent::ToolCall {
        id: id.into(),
        name: "Read".into(),
    };
    let calls = new_events
        .iter()
        .filter(|event| matches!(event, ModelEvent::ToolCall { .. }));
    assert_eq!(
        calls.cloned().collect::<Vec<_>>(),
        [call_event("call_1"), call_event("call_2")]
    );
}

#[test]
fn an_immediate_answer_is_reported_too() {
    let items = [
        reasoning(&["Hm."]),
        message("Yes."),
        call("call_1", "Read", ""),
    ];
    let mut end = completed();
    end["response"]["output"] = json!(items);

    let (new_events, reply) = answer(&[created(), end]);

    assert_eq!(streamed(&new_events), ("Yes.".into(), "Hm.".into()));
    let reply = reply.expect("whole");
    assert_eq!(reply.stop, StopReason::ToolUse);
    let calls: Vec<_> = reply.message.calls().collect();
    assert_eq!(calls, [("call_1", "Read", &json!({}))]);
}

#[test]
fn items_without_a_number_are_one_behind_the_other() {
    let mut events = vec![
        added(0, &json!({"type": "message"})),
        delta("response.output_text.delta", 0, "One."),
        done(0, &message("One.")),
        done(0, &message("Two.")),
        completed(),
    ];
    for event in &mut events {
        event
            .as_object_mut()
            .expect("an object")
            .remove("output_index");
    }

    let (new_events, reply) = answer(&events);

    assert_eq!(reply.expect("whole").message.to_text(), "One.Two.");
    assert_eq!(streamed(&new_events).0, "One.Two.");
}

#[test]
fn refusal_ends_with_refused_and_its_text() {
    let refusal = json!({
        "type": "message",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I will not."}],
    });

    let (new_events, reply) = answer(&[
        delta("response.refusal.delta", 0, "I will not."),
        done(0, &refusal),
        completed(),
    ]);

    let reply = reply.expect("whole");
    assert_eq!(reply.stop, StopReason::Refused);
    assert_eq!(reply.message.to_text(), "I will not.");
    assert_eq!(streamed(&new_events).0, "I will not.");
}

#[test]
fn unknown_items_are_preserved() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});

    let (_, reply) = answer(&[done(0, &search), done(1, &message("Found.")), completed()]);

    let message = reply.expect("whole").message;
    assert_eq!(message.parts[0], own(MessagePart::opaque(), &search));
    assert_eq!(message.to_text(), "Found.");
}

#[test]
fn arguments_that_are_no_json_are_a_text() {
    let (_, reply) = answer(&[done(0, &call("call_1", "Read", "{\"path\": ")), completed()]);

    let message = reply.expect("whole").message;
    let calls: Vec<_> = message.calls().collect();
    assert_eq!(calls, [("call_1", "Read", &json!("{\"path\": "))]);
}

#[test]
fn incomplete_answer_has_its_reason() {
    let table = [
        (json!("max_output_tokens"), StopReason::MaxTokens),
        (json!("content_filter"), StopReason::Refused),
        (json!("tired"), StopReason::Failed("tired".into())),
        (json!(null), StopReason::Failed("incomplete".into())),
    ];

    for (reason, stop) in table {
        let end = json!({
            "type": "response.incomplete",
            "response": {
                "status": "incomplete",
                "incomplete_details": {"reason": reason},
                "usage": usage(),
            },
        });
        let (_, reply) = answer(&[delta("response.output_text.delta", 0, "So"), end]);

        let reply = reply.expect("it has an end");
        assert_eq!(reply.stop, stop);
        assert_eq!(reply.usage.complete(), Some(USED));
        assert_eq!(reply.message, AssistantMessage::text("So"));
    }
}

#[test]
fn a_call_that_was_cut_is_never_one_without_arguments() {
    let end = json!({
        "type": "response.incomplete",
        "response": {"incomplete_details": {"reason": "max_output_tokens"}},
    });
    let mut cut = call("call_2", "Write", "");
    cut["status"] = json!("incomplete");

    let (_, reply) = answer(&[added(0, &call("call_1", "Write", "")), done(1, &cut), end]);

    let message = reply.expect("it has an end").message;
    let inputs: Vec<_> = message.calls().map(|(_, _, input)| input).collect();
    assert_eq!(inputs, [&json!(""), &json!("")]);
}

#[test]
fn a_failure_in_the_stream_is_an_error_with_its_usage() {
    let failed = json!({
        "type": "response.failed",
        "response": {
            "status": "failed",
            "error": {"code": "rate_limit_exceeded", "message": "Please try again in 2s."},
            "usage": usage(),
        },
    });

    let (_, reply) = answer(&[
        created(),
        delta("response.output_text.delta", 0, "So"),
        failed,
    ]);

    let error = reply.expect_err("it failed");
    assert_eq!(error.code, ModelErrorCode::RateLimited);
    assert_eq!(error.reason.as_deref(), Some("rate_limit_exceeded"));
    assert_eq!(error.retry_after, Some(std::time::Duration::from_secs(2)));
    assert_eq!(error.usage, CallUsage::AtLeast(USED));
}

#[test]
fn classifies_every_stream_failure_as_one_of_ten_codes() {
    use ModelErrorCode::*;
    let failed = |error: Value| json!({"type": "response.failed", "response": {"error": error}});
    let error =
        |code: &str| json!({"type": "error", "code": code, "message": "Sorry.", "param": null});
    let table = [
        (error("server_error"), NetworkError),
        (error("context_length_exceeded"), ContextLengthExceeded),
        (
            json!({"type": "error", "error": {"code": "invalid_api_key", "message": "No."}}),
            AuthenticationError,
        ),
        (json!({"type": "error"}), NetworkError),
        (
            failed(json!({"code": "server_error", "message": "Sorry."})),
            NetworkError,
        ),
        (
            failed(json!({"code": "insufficient_quota", "message": "No."})),
            AuthenticationError,
        ),
        (
            failed(json!({"code": "invalid_prompt", "message": "No."})),
            Unknown,
        ),
        (failed(json!(null)), NetworkError),
        (
            json!({"type": "response.completed", "response": {"status": "cancelled"}}),
            NetworkError,
        ),
        (json!([1]), InvalidResponse),
        (
            json!({"type": "response.output_item.done", "output_index": 0}),
            InvalidResponse,
        ),
        (
            done(0, &json!({"type": "function_call", "name": "Read"})),
            InvalidResponse,
        ),
    ];

    for (event, code) in table {
        let (_, reply) = answer(&[created(), event.clone()]);
        assert_eq!(reply.expect_err("it failed").code, code, "{event}");
    }
}

#[test]
fn usage_is_reported_as_soon_as_it_is_known() {
    let mut created_event = created();
    created_event["response"]["usage"] = usage();

    let (new_events, reply) = answer(&[created_event.clone(), created_event]);

    assert_eq!(new_events, [ModelEvent::Usage(USED)]);
    assert_eq!(
        reply.expect_err("it is cut").usage,
        CallUsage::AtLeast(USED)
    );
}

#[test]
fn an_answer_without_its_end_is_no_answer() {
    let mut events = vec![created(), done(0, &message("All is well."))];
    let (_, cut) = answer(&events);
    events.push(completed());
    let (_, whole) = answer(&events);

    let error = cut.expect_err("it is cut");
    assert_eq!(error.code, ModelErrorCode::NetworkError);
    assert_eq!(whole.expect("whole").stop, StopReason::EndTurn);
}

#[test]
fn events_that_are_not_known_and_signs_of_life_are_let_pass() {
    let events = [
        event(&json!({"type": "response.brand_new", "output_index": 7})),
        ServerEvent::default(),
        ServerEvent {
            name: String::new(),
            data: "[DONE]".into(),
        },
        event(&completed()),
    ];

    let (new_events, reply) = play(wire().decoder(), events);

    assert_eq!(new_events, []);
    assert_eq!(reply.expect("whole").message, AssistantMessage::default());
}
