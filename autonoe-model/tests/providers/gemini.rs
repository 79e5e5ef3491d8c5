//! Tests of whole conversations with the Gemini API.

use autonoe_core::agent::TokenUsage;
use autonoe_core::tool::ToolDefinition;
use autonoe_model::ModelErrorCode::{NetworkError, RateLimited};
use autonoe_model::contract::ToolResult;
use autonoe_model::{Message, ModelClient, ModelEvent, ModelRequest, StopReason};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

use crate::providers::raw_server::{Act, RawServer, response, stream, until_closed};
use crate::providers::support::{KEY, call, failure, model, used};

fn google(server: &RawServer) -> Arc<dyn ModelClient> {
    model("google", &server.url(), &json!({}))
}

/// The API ends its lines with CR and LF.
fn frames(chunks: impl IntoIterator<Item = Value>) -> String {
    let frame = |chunk: Value| format!("data: {chunk}\r\n\r\n");
    chunks.into_iter().map(frame).collect()
}

fn chunk(part: &Value) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
        "modelVersion": "gemini-y", "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 100},
    })
}

fn last() -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 3, "totalTokenCount": 113,
        },
        "modelVersion": "gemini-y", "responseId": "r1",
    })
}

#[tokio::test]
async fn a_conversation_with_calls_is_sent_back_unchanged() {
    let parts = [
        json!({"text": "Two files.", "thought": true}),
        json!({"text": "I look."}),
        json!({"functionCall": {"name": "Read", "args": {"path": "a"}},
               "thoughtSignature": "c2ln"}),
        json!({"functionCall": {"id": "fc-b", "name": "Read", "args": {"path": "b"}}}),
    ];
    let calls = frames(parts.iter().map(chunk).chain([last()]));
    let done = frames([chunk(&json!({"text": "Done."})), last()]);
    let server = RawServer::start([vec![stream(&calls)], vec![stream(&done)]]).await;
    let model = google(&server);
    let read = ToolDefinition::new("Read", "Reads a file.", json!({"type": "object"}));
    let request = ModelRequest::prompt("Compare.").with_tools([read]);

    let (events, end) = call(&model, &request).await;

    let reply = end.expect("it calls");
    assert_eq!(
        (reply.stop, reply.model.as_deref()),
        (StopReason::ToolUse, Some("gemini-y"))
    );
    let expected = TokenUsage {
        input: 80,
        output: 10,
        cache_read: 20,
        cache_write: 0,
        reasoning: 3,
    };
    assert_eq!(reply.usage.complete(), Some(expected));
    let call = |id: &str| ModelEvent::ToolCall {
        id: id.into(),
        name: "Read".into(),
    };
    let expected = [
        ModelEvent::Thinking("Two files.".into()),
        used(100, 0),
        ModelEvent::Text("I look.".into()),
        call("call-r1-0"),
        call("fc-b"),
    ];
    assert_eq!(events, expected);

    let results = [
        ToolResult::ok("call-r1-0", "Read", "same"),
        ToolResult::failed("fc-b", "Read", "there is no such file"),
    ];
    let conversation = vec![
        Message::user("Compare."),
        reply.message.into(),
        Message::results(results),
    ];
    let saved = serde_json::to_string(&conversation).expect("it can be written");
    let mut request = request;
    request.messages = serde_json::from_str(&saved).expect("it can be read");
    super::support::call(&model, &request)
        .await
        .1
        .expect("it answers");

    let requests = server.requests();
    let line = "POST /v1beta/models/model-x:streamGenerateContent?alt=sse HTTP/1.1\r\n";
    for request in &requests {
        assert!(request.head.starts_with(line), "{}", request.head);
        assert_eq!(request.header("x-goog-api-key"), Some(KEY));
    }
    let body: Value = serde_json::from_str(&requests[1].body).expect("JSON");
    let expected = json!([
        {"role": "user", "parts": [{"text": "Compare."}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "Read", "response": {"output": "same"}}},
            {"functionResponse": {"id": "fc-b", "name": "Read",
                                  "response": {"error": "there is no such file"}}},
        ]},
    ]);
    assert_eq!(body["contents"], expected);
}

#[tokio::test]
async fn an_incomplete_answer_fails_with_its_usage() {
    let beginning = frames([chunk(&json!({"text": "Hi."}))]);
    for acts in [
        vec![stream(&beginning)],
        vec![
            until_closed("200 OK", "text/event-stream", &beginning),
            Act::Close,
        ],
        vec![
            until_closed(
                "200 OK",
                "text/event-stream",
                &format!("{beginning}data: {{\"cand"),
            ),
            Act::Close,
        ],
    ] {
        let server = RawServer::once(acts).await;

        let error = failure(&google(&server)).await;

        assert_eq!(error.code, NetworkError, "{error:?}");
        assert_eq!(error.usage.known().total(), 100);
    }
}

// Shows: framework/models/model-error-response.retry-after-ms
#[tokio::test]
async fn an_error_in_the_stream_is_the_error_of_the_call() {
    let failed = json!({"error": {
        "code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}],
    }});
    let in_stream = stream(&frames([chunk(&json!({"text": "Hi."})), failed.clone()]));
    let as_status = response("429 Too Many Requests", "", &failed.to_string());
    for (act, used) in [(in_stream, 100), (as_status, 0)] {
        let server = RawServer::once([act]).await;

        let error = failure(&google(&server)).await;

        assert_eq!((error.code, error.status), (RateLimited, Some(429)));
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(error.message, "Quota exceeded.");
        assert_eq!(error.usage.known().total(), used);
    }
}

#[tokio::test]
async fn a_prompt_that_is_refused_is_an_answer() {
    let blocked = json!({
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
    });
    let server = RawServer::once([stream(&frames([blocked]))]).await;

    let (_, end) = call(&google(&server), &ModelRequest::prompt("Hi.")).await;

    assert_eq!(end.expect("an answer").stop, StopReason::Refused);
}
