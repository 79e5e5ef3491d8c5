//! Tests of token usage: complete, partial or unknown, and never zero by mistake.

use autonoe_core::agent::TokenUsage;
use autonoe_model::contract::CallUsage;
use autonoe_model::{ModelErrorCode, ModelRequest};
use serde_json::json;

use crate::providers::raw_server::{Act, RawServer, response, stream};
use crate::providers::support::{anthropic, call, failure, model};

const TEXT_CHUNK: &str = r#"{"id": "a", "choices": [{"index": 0, "delta": {"content": "Hi."}}]}"#;
const STOPPED: &str =
    r#"{"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
const COUNTED: &str =
    r#"{"id": "a", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}"#;
const ZERO: &str =
    r#"{"id": "a", "choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}"#;
const MESSAGE_START: &str = r#"{"type": "message_start", "message": {"id": "m", "model": "x", "usage": {"input_tokens": 10, "output_tokens": 1}}}"#;
const ENDED: &str = r#"{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}"#;
const ENDED_UNCOUNTED: &str = r#"{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}"#;
const MESSAGE_STOP: &str = r#"{"type": "message_stop"}"#;
const PART: &str = r#"{"candidates": [{"content": {"parts": [{"text": "Hi."}]}}], "usageMetadata": {"promptTokenCount": 10}}"#;
const FINISHED: &str = r#"{"candidates": [{"finishReason": "STOP"}]}"#;
const FINISHED_COUNTED: &str = r#"{"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}"#;
const COMPLETED: &str = r#"{"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}"#;
const COMPLETED_COUNTED: &str = r#"{"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [], "usage": {"input_tokens": 10, "output_tokens": 5}}}"#;

fn tokens(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    }
}

fn events(events: &[&str]) -> Act {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    stream(&events.collect::<String>())
}

#[tokio::test]
async fn usage_is_complete_only_if_the_provider_reported_it_at_the_end() {
    let all = CallUsage::Complete(tokens(10, 5));
    for (kind, sent, expected) in [
        (
            "openai-compatible",
            vec![TEXT_CHUNK, STOPPED, COUNTED, "[DONE]"],
            all,
        ),
        (
            "openai-compatible",
            vec![TEXT_CHUNK, STOPPED, "[DONE]"],
            CallUsage::UNKNOWN,
        ),
        (
            "openai-compatible",
            vec![TEXT_CHUNK, STOPPED, ZERO, "[DONE]"],
            CallUsage::UNKNOWN,
        ),
        // Closed before the counts arrived.
        (
            "openai-compatible",
            vec![TEXT_CHUNK, STOPPED],
            CallUsage::UNKNOWN,
        ),
        // Counted on the way, and not at the end.
        (
            "openai-compatible",
            vec![TEXT_CHUNK, COUNTED, TEXT_CHUNK, STOPPED, "[DONE]"],
            CallUsage::AtLeast(tokens(10, 5)),
        ),
        ("anthropic", vec![MESSAGE_START, ENDED, MESSAGE_STOP], all),
        (
            "anthropic",
            vec![MESSAGE_START, ENDED_UNCOUNTED, MESSAGE_STOP],
            CallUsage::AtLeast(tokens(10, 1)),
        ),
        ("google", vec![PART, FINISHED_COUNTED], all),
        (
            "google",
            vec![PART, FINISHED],
            CallUsage::AtLeast(tokens(10, 0)),
        ),
        ("openai", vec![COMPLETED_COUNTED], all),
        ("openai", vec![COMPLETED], CallUsage::UNKNOWN),
    ] {
        let server = RawServer::once([events(&sent), Act::Close]).await;
        let model = model(kind, &server.url(), &json!({}));

        let (_, end) = call(&model, &ModelRequest::prompt("Hello.")).await;

        assert_eq!(end.expect("it is whole").usage, expected, "{kind} {sent:?}");
    }
}

#[tokio::test]
async fn truncated_answer_used_at_least_the_reported_tokens() {
    for (kind, sent, known) in [
        ("openai-compatible", vec![TEXT_CHUNK], tokens(0, 0)),
        (
            "openai-compatible",
            vec![TEXT_CHUNK, COUNTED],
            tokens(10, 5),
        ),
        ("anthropic", vec![MESSAGE_START], tokens(10, 1)),
        ("google", vec![PART], tokens(10, 0)),
    ] {
        let server = RawServer::once([events(&sent), Act::Close]).await;

        let error = failure(&model(kind, &server.url(), &json!({}))).await;

        assert_eq!(error.usage, CallUsage::AtLeast(known), "{kind} {sent:?}");
    }
}

#[tokio::test]
async fn usage_is_zero_if_no_model_was_reached_and_unknown_if_one_may_have_been() {
    for (status, code, expected) in [
        (
            "401 No",
            ModelErrorCode::AuthenticationError,
            CallUsage::NOTHING,
        ),
        ("429 No", ModelErrorCode::RateLimited, CallUsage::NOTHING),
        ("500 No", ModelErrorCode::NetworkError, CallUsage::NOTHING),
        // A gateway that did not wait for the model.
        ("504 No", ModelErrorCode::Timeout, CallUsage::UNKNOWN),
    ] {
        let server = RawServer::once([response(status, "", "no")]).await;

        let failed = failure(&anthropic(&server.url())).await;

        assert_eq!((failed.code, failed.usage), (code, expected), "{status}");
    }

    // The request has arrived, and no answer comes.
    let server = RawServer::once([Act::Close]).await;
    assert_eq!(
        failure(&anthropic(&server.url())).await.usage,
        CallUsage::UNKNOWN
    );

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let unreachable = failure(&anthropic(&format!("http://{address}"))).await;
    assert_eq!(unreachable.usage, CallUsage::NOTHING);
}
