//! Tests of failures of the Messages API.

use std::time::Duration;

use autonoe_model::ModelErrorCode::{
    AuthenticationError, ContextLengthExceeded, InvalidResponse, ModelNotFound, NetworkError,
    RateLimited, Unknown,
};
use autonoe_model::{ModelEvent, ModelRequest};
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, MainRequests, ModelScript, Refusal, ScriptedMessage,
    StreamFault, Turn,
};
use serde_json::json;

use crate::providers::support::{anthropic, call, failure, model, used};

fn start(turn: impl Into<Turn>) -> AnthropicServer {
    AnthropicServer::start(ModelScript::new([turn.into()]).with_main_requests(MainRequests::All))
}

// Shows: framework/models/model-error-response.retry-after-ms
#[tokio::test]
async fn every_refusal_is_understood() {
    let too_long = "prompt is too long: 213462 tokens > 200000 maximum";
    for (refusal, code, wait) in [
        (
            Refusal::new(400, "invalid_request_error", too_long),
            ContextLengthExceeded,
            None,
        ),
        (
            Refusal::new(400, "invalid_request_error", "tools.0: bad"),
            Unknown,
            None,
        ),
        (Refusal::credit_exhausted(), AuthenticationError, None),
        (Refusal::unauthorized(), AuthenticationError, None),
        (Refusal::forbidden(), AuthenticationError, None),
        (Refusal::model_not_found("model-x"), ModelNotFound, None),
        (Refusal::rate_limited(), RateLimited, None),
        (Refusal::rate_limited().retry_after(7), RateLimited, Some(7)),
        (Refusal::server_error(), NetworkError, None),
        (Refusal::overloaded(), RateLimited, None),
        (
            Refusal::new(502, "x", "x").with_body("<html>bad gateway</html>"),
            NetworkError,
            None,
        ),
    ] {
        let name = format!("{refusal:?}");
        let server = start(refusal);

        let error = failure(&anthropic(&server.url())).await;

        assert_eq!(error.code, code, "{name}");
        assert_eq!(error.retry_after, wait.map(Duration::from_secs), "{name}");
        assert!(error.request_id.is_some(), "{name}");
    }
}

fn reply() -> ScriptedMessage {
    ScriptedMessage::new()
        .says("One, two, three.")
        .in_pieces_of(5)
}

/// Number of events: around the message, around the block, and four pieces.
const EVENTS: usize = 3 + 2 + 4;

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_is_a_failure_until_its_last_event() {
    for place in 0..=EVENTS {
        let server = start(reply().breaks(FaultPosition::AfterEvents(place), StreamFault::Cut));

        let (_, end) = call(&anthropic(&server.url()), &ModelRequest::prompt("Hi.")).await;

        match end {
            Ok(reply) => {
                assert_eq!(place, EVENTS, "only then it is whole");
                assert_eq!(reply.message.to_text(), "One, two, three.");
            }
            Err(error) => {
                assert!(place < EVENTS, "{error:?}");
                assert_eq!(error.code, NetworkError, "{place}");
                // The prompt is charged as soon as the provider reports it.
                assert_eq!(error.usage.known().input > 0, place > 0, "{place}");
            }
        }
    }
}

#[tokio::test]
async fn an_invalid_event_makes_the_answer_invalid() {
    let server = start(reply().breaks(FaultPosition::InBlock(0), StreamFault::Malformed));

    let (events, end) = call(&anthropic(&server.url()), &ModelRequest::prompt("Hi.")).await;

    let error = end.expect_err("it makes no sense");
    assert_eq!(error.code, InvalidResponse);
    assert!(
        error.usage.known().input > 0 && error.request_id.is_some(),
        "{error:?}"
    );
    assert_eq!(events, [used(100, 1), ModelEvent::Text("One, ".into())]);
}

#[tokio::test]
async fn an_error_in_the_stream_is_the_error_of_the_call() {
    let fault = StreamFault::Error {
        kind: "overloaded_error".into(),
        message: "Overloaded".into(),
    };
    let server = start(reply().breaks(FaultPosition::AfterBlock(0), fault));

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(
        (error.code, error.message.as_str()),
        (RateLimited, "Overloaded")
    );
    assert!(
        error.usage.known().input > 0 && error.request_id.is_some(),
        "{error:?}"
    );
}

#[tokio::test]
async fn silence_in_the_stream_is_a_time_out() {
    let server = start(reply().breaks(FaultPosition::InBlock(0), StreamFault::Hang));
    let model = model(
        "anthropic",
        &server.url(),
        &json!({"timeouts": {"silenceMs": 150}}),
    );

    let error = failure(&model).await;

    assert_eq!(error.code, autonoe_model::ModelErrorCode::Timeout);
}

#[tokio::test]
async fn a_connection_closed_without_a_response_is_a_network_error() {
    let server = start(Turn::disconnect());

    let error = failure(&anthropic(&server.url())).await;

    assert_eq!(error.code, NetworkError);
}
