//! Responses of the Messages API as a client receives them.

use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, MessageStopReason, Refusal, ScriptedMessage, Turn, Usage,
};
use autonoe_testkit::model_server::{Ending, ServerAnswer};
use serde_json::{Value, json};

use crate::model_server::client::{End, prompt, request_message, send, streamed};

fn read_and_search() -> ScriptedMessage {
    ScriptedMessage::new()
        .thinks("Where am I?")
        .says("I look around, in more than forty characters.")
        .uses_tool_as("toolu_1", "Bash", json!({"command": "ls"}))
        .uses_tool_as("toolu_2", "Read", json!({"file_path": "/a"}))
        .with_usage(Usage::new(7, 5).with_cache_read(3).with_cache_creation(2))
}

/// Removes the id, which depends on how many servers the process has started.
fn without_id(text: &str) -> String {
    let (before, rest) = text.split_once("msg_scripted_").expect("it has an id");
    let (_, after) = rest.split_once('"').expect("it ends");
    format!("{before}msg_scripted\"{after}")
}

#[tokio::test]
async fn a_message_is_streamed_as_events() {
    let server = AnthropicServer::start([read_and_search()]);

    let response = request_message(&server, &streamed("go")).await;

    assert_eq!((response.status, response.end), (200, End::Proper));
    let kind = response.header("content-type");
    assert_eq!(kind, Some("text/event-stream; charset=utf-8"));
    insta::assert_snapshot!(without_id(&response.body));
}

#[tokio::test]
async fn a_message_without_streaming_is_one_document() {
    let server = AnthropicServer::start([read_and_search()]);

    let response = request_message(&server, &prompt("go")).await;

    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let whole: Value = serde_json::from_str(&without_id(&response.body)).unwrap();
    insta::assert_json_snapshot!(whole);
}

#[tokio::test]
async fn script_sets_stop_reason_and_model() {
    let cut_short = ScriptedMessage::new()
        .uses_tool("Bash", json!({}))
        .stops(MessageStopReason::MaxTokens)
        .with_model("claude-y");
    let server = AnthropicServer::start([cut_short, ScriptedMessage::new().says("done")]);

    let first = request_message(&server, &prompt("go")).await.json();
    let second = request_message(&server, &prompt("go on")).await.json();

    assert_eq!(first["stop_reason"], "max_tokens");
    assert_eq!(first["model"], "claude-y");
    assert_eq!(second["stop_reason"], "end_turn");
    assert_eq!(second["model"], "claude-x");
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn a_refusal_has_status_type_and_reason() {
    for (refusal, status, kind, excerpt) in [
        (
            Refusal::unauthorized(),
            401,
            "authentication_error",
            "invalid",
        ),
        (Refusal::forbidden(), 403, "permission_error", "may not"),
        (
            Refusal::credit_exhausted(),
            400,
            "invalid_request_error",
            "credit balance is too low",
        ),
        (
            Refusal::model_not_found("claude-z"),
            404,
            "not_found_error",
            "model: claude-z",
        ),
        (Refusal::rate_limited(), 429, "rate_limit_error", "too many"),
        (
            Refusal::server_error(),
            500,
            "api_error",
            "Internal server error",
        ),
        (Refusal::overloaded(), 529, "overloaded_error", "Overloaded"),
        (
            Refusal::new(418, "tea", "short").with_message("stout"),
            418,
            "tea",
            "stout",
        ),
    ] {
        let server = AnthropicServer::start([refusal]);

        let response = request_message(&server, &streamed("go")).await;

        let body = response.json();
        assert_eq!(
            (response.status, body["error"]["type"].as_str()),
            (status, Some(kind))
        );
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(excerpt), "{status}: {message}");
        assert_eq!(response.header("request-id"), body["request_id"].as_str());
    }
}

#[tokio::test]
async fn a_refusal_may_have_headers_and_a_body_of_its_own() {
    let proxy = Refusal::new(502, "api_error", "-")
        .with_body("<h1>Bad gateway</h1>")
        .with_header("content-type", "text/html")
        .retry_after(3);
    let server = AnthropicServer::start([proxy]);

    let response = request_message(&server, &prompt("go")).await;

    assert_eq!(
        (response.status, response.body.as_str()),
        (502, "<h1>Bad gateway</h1>")
    );
    assert_eq!(response.header("content-type"), Some("text/html"));
    assert_eq!(response.header("retry-after"), Some("3"));
}

#[tokio::test]
async fn auxiliary_requests_do_not_use_the_script() {
    let server = AnthropicServer::start([Turn::text("done")]);
    let count = prompt("count me").to_string();
    let tokens = "/v1/messages/count_tokens";

    for (method, path, body, status, answer) in [
        ("HEAD", "/", "", 200, ServerAnswer::Fixed),
        ("HEAD", "/api/hello", "", 200, ServerAnswer::Fixed),
        ("GET", "/", "", 200, ServerAnswer::Fixed),
        ("POST", tokens, count.as_str(), 200, ServerAnswer::Fixed),
        ("POST", "/api/events", "{}", 404, ServerAnswer::NotFound),
        ("GET", "/v1/messages", "", 404, ServerAnswer::NotFound),
    ] {
        let response = send(&server, method, path, body).await;

        assert_eq!(response.status, status, "{method} {path}");
        let seen = server.log().exchanges().pop().unwrap();
        assert_eq!(
            (seen.answer, seen.ending),
            (answer, Some(Ending::Sent)),
            "{method} {path}"
        );
        if path == tokens {
            assert_eq!(response.json()["input_tokens"], count.len() / 4);
        }
    }
    assert_eq!(request_message(&server, &prompt("go")).await.status, 200);
}

#[test]
#[should_panic(expected = "HTTP does not allow the header `no blanks: x`")]
fn an_invalid_header_panics_in_with_header() {
    let _ = ScriptedMessage::new().with_header("no blanks", "x");
}

#[test]
#[should_panic(expected = "200 is not the HTTP status of an error")]
fn a_refusal_with_the_status_of_success_fails_where_the_script_is_written() {
    let _ = Refusal::new(200, "api_error", "fine");
}
