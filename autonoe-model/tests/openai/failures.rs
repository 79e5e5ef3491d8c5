//! Tests of refusals, broken streams and dropped calls.

use std::time::Duration;

use autonoe_model::ModelErrorCode::{self, *};
use autonoe_model::{ModelEvent, ModelRequest};
use autonoe_testkit::model_server::{
    Ending, FaultPosition, Refusal, ScriptedMessage, StreamFault, Turn,
};
use futures::StreamExt;
use serde_json::json;

use crate::openai::fixture::{Api, KEY, call, server, streamed};

#[tokio::test]
async fn every_refusal_has_its_code() {
    #[rustfmt::skip]
    let table: Vec<(Refusal, ModelErrorCode, Option<&str>)> = vec![
        (Refusal::context_too_long(), ContextLengthExceeded, Some("context_length_exceeded")),
        (Refusal::new(400, "invalid_request_error", "Bad schema."), Unknown, Some("invalid_request_error")),
        (Refusal::unauthorized(), AuthenticationError, Some("invalid_api_key")),
        (Refusal::payment_required(), AuthenticationError, Some("invalid_request_error")),
        (Refusal::forbidden(), AuthenticationError, Some("unsupported_country_region_territory")),
        (Refusal::model_not_found("gpt-5"), ModelNotFound, Some("model_not_found")),
        (Refusal::new(408, "timeout", "Too slow."), Timeout, Some("timeout")),
        (Refusal::new(413, "invalid_request_error", "Too large."), ContextLengthExceeded, Some("invalid_request_error")),
        (Refusal::rate_limited(), RateLimited, Some("rate_limit_exceeded")),
        (Refusal::quota_spent().retry_after(5), AuthenticationError, Some("insufficient_quota")),
        (Refusal::server_error(), NetworkError, Some("server_error")),
        (Refusal::new(502, "x", "").with_body("<h1>Bad gateway</h1>"), NetworkError, None),
        (Refusal::new(503, "server_error", "Down."), NetworkError, Some("server_error")),
        (Refusal::overloaded(), RateLimited, Some("server_is_overloaded")),
        (Refusal::new(504, "x", "").with_body(""), Timeout, None),
    ];

    for api in Api::BOTH {
        for (refusal, code, reason) in &table {
            let server = server([Turn::from(refusal.clone())]);

            let (news, reply) = call(&*api.model(&server), &ModelRequest::prompt("?")).await;

            let error = reply.expect_err("it is refused");
            assert_eq!(
                (error.code, error.reason.as_deref()),
                (*code, *reason),
                "{refusal:?}"
            );
            assert_eq!(error.retry_after, None, "{refusal:?}");
            assert!(
                error.status.is_some() && error.request_id.is_some(),
                "{error:?}"
            );
            assert_eq!(news, []);
        }
    }
}

// Shows: framework/models/model-error-response.retry-after-ms
#[tokio::test]
async fn the_requested_delay_is_reported() {
    let seven = Refusal::rate_limited().retry_after(7);
    let table = [
        (seven.clone(), Duration::from_secs(7)),
        (
            seven.with_header("retry-after-ms", "250"),
            Duration::from_millis(250),
        ),
        (
            Refusal::rate_limited().with_message("Please try again in 1m2.5s."),
            Duration::from_millis(62_500),
        ),
    ];

    for api in Api::BOTH {
        for (refusal, wait) in &table {
            let server = server([Turn::from(refusal.clone())]);

            let reply = api.model(&server).invoke(&ModelRequest::prompt("?")).await;

            let error = reply.expect_err("it is refused");
            assert_eq!((error.code, error.retry_after), (RateLimited, Some(*wait)));
        }
    }
}

#[tokio::test]
async fn a_service_that_repeats_the_key_does_not_get_it_into_an_error() {
    for api in Api::BOTH {
        for status in [400, 401, 500] {
            let message = format!("The key {KEY} (Bearer {KEY}) is wrong.");
            let refusal = Refusal::new(status, KEY, message);
            let server = server([Turn::from(refusal)]);

            // The helper searches the error for the key.
            let (_, reply) = call(&*api.model(&server), &ModelRequest::prompt("?")).await;

            reply.expect_err("it is refused");
        }
    }
}

#[tokio::test]
async fn a_broken_stream_is_never_an_answer() {
    let fault = |kind: &str| StreamFault::Error {
        kind: kind.into(),
        message: "Sorry.".into(),
    };
    let failed = |code: &str| StreamFault::Failed {
        code: code.into(),
        message: "Please try again in 2s.".into(),
    };
    let table = [
        (StreamFault::Cut, NetworkError),
        (StreamFault::End, NetworkError),
        (StreamFault::Malformed, InvalidResponse),
        (fault("server_error"), NetworkError),
        (fault("context_length_exceeded"), ContextLengthExceeded),
        (failed("rate_limit_exceeded"), RateLimited),
        (failed("insufficient_quota"), AuthenticationError),
    ];

    for api in Api::BOTH {
        for (fault, code) in &table {
            let message = ScriptedMessage::new()
                .says("Good morning.")
                .in_pieces_of(3)
                .breaks(FaultPosition::InBlock(0), fault.clone());
            let server = server([Turn::from(message)]);

            let (news, reply) = call(&*api.model(&server), &ModelRequest::prompt("?")).await;

            assert_eq!(
                reply.expect_err("it broke").code,
                *code,
                "{api:?} {fault:?}"
            );
            assert!(!streamed(&news).is_empty(), "{api:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn non_stream_answer_is_an_error() {
    let error = json!({"error": {"code": 429, "message": "Slow."}}).to_string();
    let table = [
        (Turn::html("<h1>Sign in</h1>"), InvalidResponse),
        (Turn::raw("application/json", error), RateLimited),
        (Turn::raw("text/event-stream", ""), NetworkError),
        (Turn::disconnect(), NetworkError),
    ];

    for api in Api::BOTH {
        for (turn, code) in &table {
            let server = server([turn.clone()]);

            let (_, reply) = call(&*api.model(&server), &ModelRequest::prompt("?")).await;

            assert_eq!(
                reply.expect_err("it is none").code,
                *code,
                "{api:?} {turn:?}"
            );
        }
    }
}

#[tokio::test]
async fn silence_is_not_waited_for_longer_than_agreed() {
    for api in Api::BOTH {
        let message = ScriptedMessage::new()
            .says("Good morning.")
            .in_pieces_of(3)
            .breaks(FaultPosition::InBlock(0), StreamFault::Hang);
        let server = server([Turn::from(message)]);
        let model = api.model_with(&server, &json!({"timeouts": {"silenceMs": 3_000}}));

        let (news, reply) = call(&*model, &ModelRequest::prompt("?")).await;

        assert_eq!(reply.expect_err("it is silent").code, Timeout, "{api:?}");
        assert!(!streamed(&news).is_empty());
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_ends_the_call() {
    for api in Api::BOTH {
        let message = ScriptedMessage::new()
            .says("Good morning.")
            .in_pieces_of(3)
            .breaks(FaultPosition::InBlock(0), StreamFault::Hang);
        let server = server([Turn::from(message)]);
        let model = api.model(&server);

        let mut stream = model.stream(&ModelRequest::prompt("?"));
        let mut first = stream.next().await;
        while let Some(Ok(ModelEvent::Heartbeat)) = first {
            first = stream.next().await;
        }
        drop(stream);

        assert!(matches!(first, Some(Ok(ModelEvent::Text(_)))), "{first:?}");
        let log = server.log();
        let left = log.wait_for(Duration::from_secs(60), |exchange| {
            exchange.ending == Some(Ending::PeerLeft)
        });
        left.await.expect("the server sees that the client left");
    }
}
