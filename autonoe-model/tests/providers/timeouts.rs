//! Tests of slow providers, in real time with short limits.

use std::time::{Duration, Instant};

use autonoe_model::ModelErrorCode::Timeout;
use autonoe_model::{ModelEvent, ModelRequest};
use serde_json::json;

use crate::providers::raw_server::{Act, ENDED, MESSAGE_START, RawServer, STREAM_HEAD, chunk};
use crate::providers::support::{call, failure, model, used};

#[tokio::test]
async fn a_provider_that_does_not_begin_is_late() {
    let server = RawServer::once([Act::Hang]).await;
    let model = model(
        "anthropic",
        &server.url(),
        &json!({"timeouts": {"headMs": 100}}),
    );
    let started = Instant::now();

    let error = failure(&model).await;

    assert_eq!(error.code, Timeout);
    assert!(
        error
            .message
            .ends_with("did not start to answer within 100ms"),
        "{error}"
    );
    assert!(started.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_silent_provider_times_out_with_the_usage_so_far() {
    let beginning = format!("{STREAM_HEAD}{}", chunk(MESSAGE_START));
    let server = RawServer::once([Act::Send(beginning), Act::Hang]).await;
    let model = model(
        "anthropic",
        &server.url(),
        &json!({"timeouts": {"silenceMs": 100}}),
    );

    let (events, end) = call(&model, &ModelRequest::prompt("Hi.")).await;

    let error = end.expect_err("it fell silent");
    assert_eq!(error.code, Timeout, "{error:?}");
    assert_eq!(error.usage.known().total(), 11);
    assert_eq!(error.request_id.as_deref(), Some("req-1"));
    assert_eq!(events, [used(10, 1), ModelEvent::Text("Hi.".into())]);
}

#[tokio::test]
async fn heartbeats_keep_a_slow_answer_alive() {
    let mut acts = vec![Act::Send(format!("{STREAM_HEAD}{}", chunk(MESSAGE_START)))];
    for _ in 0..6 {
        acts.extend([
            Act::Wait(Duration::from_secs(1)),
            Act::Send(chunk(": ping\n\n")),
        ]);
    }
    acts.push(Act::Send(format!("{}0\r\n\r\n", chunk(ENDED))));
    let server = RawServer::once(acts).await;
    // Shorter than the whole answer, and longer than each part.
    let model = model(
        "anthropic",
        &server.url(),
        &json!({"timeouts": {"silenceMs": 5_000}}),
    );

    let (_, end) = call(&model, &ModelRequest::prompt("Hi.")).await;

    assert_eq!(end.expect("it is whole").message.to_text(), "Hi.");
}

#[tokio::test]
async fn a_slow_connection_times_out() {
    // A proxy that accepts the tunnel request and does nothing behaves like an unreachable machine.
    let proxy = RawServer::once([Act::Hang]).await;
    let model = model(
        "anthropic",
        "http://127.0.0.1:9",
        &json!({"proxy": {"url": proxy.url()}, "timeouts": {"connectMs": 100}}),
    );

    let error = failure(&model).await;

    assert_eq!(error.code, Timeout, "{error:?}");
    let expected = "127.0.0.1:9 cannot be reached: there was no connection within 100ms";
    assert_eq!(error.message, expected);
}
