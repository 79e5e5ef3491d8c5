//! Tests of failed connections and invalid answers.

use std::time::Duration;

use autonoe_model::ModelErrorCode::{
    AuthenticationError, InvalidResponse, NetworkError, RateLimited,
};
use autonoe_model::{ModelEvent, ModelRequest};
use serde_json::json;

use crate::providers::raw_server::{
    Act, ENDED, MESSAGE_START, RawServer, STREAM_HEAD, chunk, response, stream, until_closed,
};
use crate::providers::support::{KEY, anthropic, call, failure, model, used};

const EVENTS: &str = "text/event-stream";

#[tokio::test]
async fn unreachable_server_is_a_network_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);

    let error = failure(&anthropic(&format!("http://{address}"))).await;

    assert_eq!(error.code, NetworkError);
    let expected = format!("{address} cannot be reached: Connection refused");
    assert!(error.message.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_a_failure_of_the_network() {
    for act in [Act::Close, Act::Reset] {
        let server = RawServer::once([act.clone()]).await;

        let error = failure(&anthropic(&server.url())).await;

        assert_eq!(error.code, NetworkError, "{act:?}: {error:?}");
        assert_eq!(server.requests().len(), 1, "it is not asked twice");
    }
}

#[tokio::test]
async fn an_incomplete_answer_fails_with_its_usage() {
    let chunked = |end: Act| {
        vec![
            Act::Send(format!("{STREAM_HEAD}{}", chunk(MESSAGE_START))),
            end,
        ]
    };
    let in_chunk = vec![
        Act::Send(format!(
            "{STREAM_HEAD}{}ff\r\ndata: {{\"ty",
            chunk(MESSAGE_START)
        )),
        Act::Close,
    ];
    let ended_chunks = vec![stream(MESSAGE_START), Act::Close];
    let short = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {EVENTS}\r\ncontent-length: 9999\r\n\
         request-id: req-1\r\n\r\n{MESSAGE_START}"
    );
    for (name, acts) in [
        ("closed between chunks", chunked(Act::Close)),
        ("reset between chunks", {
            // The client must have read it before.
            let mut acts = chunked(Act::Reset);
            acts.insert(1, Act::Wait(Duration::from_secs(1)));
            acts
        }),
        ("closed in a chunk", in_chunk),
        ("chunks that end too early", ended_chunks),
        ("shorter than was told", vec![Act::Send(short), Act::Close]),
        (
            "closed, with no length told",
            vec![until_closed("200 OK", EVENTS, MESSAGE_START), Act::Close],
        ),
        (
            "closed in an event, with no length told",
            vec![
                until_closed(
                    "200 OK",
                    EVENTS,
                    &format!("{MESSAGE_START}data: {{\"type\": \"cont"),
                ),
                Act::Close,
            ],
        ),
    ] {
        let server = RawServer::once(acts).await;

        let (events, end) = call(&anthropic(&server.url()), &ModelRequest::prompt("Hi.")).await;

        let error = end.expect_err(name);
        assert_eq!(error.code, NetworkError, "{name}: {error:?}");
        assert_eq!(error.usage.known().total(), 11, "{name}");
        assert_eq!(error.request_id.as_deref(), Some("req-1"), "{name}");
        let expected = [used(10, 1), ModelEvent::Text("Hi.".into())];
        assert_eq!(events, expected, "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_needs_no_proper_end_of_the_connection() {
    for acts in [
        vec![
            Act::Send(format!(
                "{STREAM_HEAD}{}",
                chunk(&format!("{MESSAGE_START}{ENDED}"))
            )),
            Act::Close,
        ],
        vec![
            Act::Send(format!(
                "{STREAM_HEAD}{}",
                chunk(&format!("{MESSAGE_START}{ENDED}"))
            )),
            Act::Hang,
        ],
        vec![
            until_closed(
                "200 OK",
                EVENTS,
                &format!("{MESSAGE_START}{}", ENDED.trim_end()),
            ),
            Act::Close,
        ],
        // Without a content type.
        vec![response("200 OK", "", &format!("{MESSAGE_START}{ENDED}"))],
    ] {
        let server = RawServer::once(acts).await;

        let (_, end) = call(&anthropic(&server.url()), &ModelRequest::prompt("Hi.")).await;

        assert_eq!(end.expect("it is whole").usage.known().total(), 15);
    }
}

#[tokio::test]
async fn a_success_that_is_no_stream_is_an_invalid_answer() {
    let page = "<!doctype html>\n<html><body>Log in to the hotel network</body></html>";
    for (name, act) in [
        (
            "a page",
            response("200 OK", "content-type: text/html; charset=utf-8\r\n", page),
        ),
        (
            "a page that is said to be nothing",
            response("200 OK", "", page),
        ),
        (
            "a page that is said to be a stream",
            until_closed("200 OK", EVENTS, page),
        ),
        (
            "JSON",
            response(
                "200 OK",
                "content-type: application/json\r\n",
                r#"{"content": []}"#,
            ),
        ),
        (
            "nothing",
            response("204 No Content", "content-type: text/plain\r\n", ""),
        ),
    ] {
        let server = RawServer::once([act, Act::Close]).await;

        let error = failure(&anthropic(&server.url())).await;

        assert_eq!(error.code, InvalidResponse, "{name}: {error:?}");
        assert!(!error.message.contains("html"), "{error}");
    }
}

#[tokio::test]
async fn error_with_success_status_is_reported_as_error() {
    let anthropic_error = json!({"type": "error", "error": {
        "type": "rate_limit_error", "message": "slow down"}});
    let google_error = json!([{"error": {
        "code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}]);
    for (kind, body) in [("anthropic", anthropic_error), ("google", google_error)] {
        let json = response(
            "200 OK",
            "content-type: application/json\r\n",
            &body.to_string(),
        );
        let server = RawServer::once([json]).await;

        let error = failure(&model(kind, &server.url(), &json!({}))).await;

        assert_eq!(
            (error.code, error.message.as_str()),
            (RateLimited, "slow down"),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let redirect_target = RawServer::start([]).await;
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
    ] {
        let location = format!("location: {}/v1/messages\r\n", redirect_target.url());
        let server = RawServer::once([response(status, &location, "")]).await;

        let error = failure(&anthropic(&server.url())).await;

        assert_eq!(error.code, InvalidResponse);
        assert_eq!(error.status.map(|code| code / 100), Some(3));
    }
    assert!(redirect_target.requests().is_empty());
}

#[tokio::test]
async fn non_http_answer_is_an_invalid_response() {
    let server = RawServer::once([Act::Send("SSH-2.0-server\r\n\r\n".into()), Act::Close]).await;

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(error.code, InvalidResponse, "{error:?}");
}

#[tokio::test]
async fn an_event_without_an_end_does_not_fill_the_memory() {
    let line = format!("data: {}\n", "x".repeat(1 << 20));
    let server = RawServer::once([
        until_closed("200 OK", EVENTS, MESSAGE_START),
        Act::Send(line.repeat(17)),
        Act::Hang,
    ])
    .await;

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(error.code, InvalidResponse, "{error:?}");
    assert_eq!(error.usage.known().total(), 11);
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_is_not_in_the_error() {
    let body = json!({"type": "error", "error": {
        "type": "authentication_error", "message": format!("the key {KEY} is not known")}});
    let head = format!("content-type: application/json\r\nrequest-id: {KEY}\r\n");
    let server = RawServer::once([response("401 Unauthorized", &head, &body.to_string())]).await;

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(error.code, AuthenticationError);
    assert_eq!(error.message, "the key [redacted] is not known");
    assert_eq!(error.request_id.as_deref(), Some("[redacted]"));
}

#[tokio::test]
async fn truncated_message_contains_no_part_of_key() {
    let key = "gateway-key-0123456789-abcdef";
    for kind in ["openai-compatible", "openai", "google", "anthropic"] {
        for before in (400..=620).step_by(10) {
            let message = format!("{} {key} is not known", "x".repeat(before));
            let body = json!({"error": {"type": "invalid_request_error", "message": message}});
            let head = "content-type: application/json\r\n";
            let answer = response("400 Bad Request", head, &body.to_string());
            let server = RawServer::once([answer]).await;
            let keyed = json!({"key": {"value": key}});

            let error = failure(&model(kind, &server.url(), &keyed)).await;

            assert!(
                !error.message.contains("gateway"),
                "{kind} {before}: {error}"
            );
            assert!(error.message.chars().count() < 620, "{kind}: {error}");
        }
    }
}

#[tokio::test]
async fn a_retry_after_date_is_relative_to_the_date_header() {
    let head = "date: Wed, 21 Oct 2015 07:28:00 GMT\r\nx-request-id: req-7\r\n\
                retry-after: Wed, 21 Oct 2015 07:28:30 GMT\r\n";
    let server = RawServer::once([response(
        "503 Service Unavailable",
        head,
        "<html>busy</html>",
    )])
    .await;

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!((error.code, error.status), (NetworkError, Some(503)));
    assert_eq!(error.retry_after, Some(Duration::from_secs(30)));
    assert_eq!(error.request_id.as_deref(), Some("req-7"));
}

#[tokio::test]
async fn a_refusal_that_breaks_off_is_still_a_refusal() {
    let cut = "HTTP/1.1 429 Too Many\r\ncontent-length: 500\r\nretry-after-ms: 1500\r\n\r\n{\"err";
    let server = RawServer::once([Act::Send(cut.into()), Act::Close]).await;

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(error.code, RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
}
