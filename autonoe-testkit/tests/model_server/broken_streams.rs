//! Faults inside an answer.

use std::time::{Duration, Instant};

use autonoe_testkit::model_server::Ending;
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, ScriptedMessage, StreamFault, Turn,
};

use crate::model_server::client::{End, TIMEOUT, prompt, request_message, streamed};

const START: &str = "message_start";
const BLOCK: &str = "content_block_start";
const PIECE: &str = "content_block_delta";
const STOP: &str = "content_block_stop";

fn two_texts() -> ScriptedMessage {
    ScriptedMessage::new().says("one").says("two")
}

async fn ending(server: &AnthropicServer) -> Option<Ending> {
    let ended = server.log().wait_for(TIMEOUT, |seen| seen.ending.is_some());
    ended.await.expect("it comes to its end").ending
}

#[tokio::test]
async fn connection_is_cut_at_scripted_position() {
    let full = [
        START,
        BLOCK,
        PIECE,
        STOP,
        BLOCK,
        PIECE,
        STOP,
        "message_delta",
        "message_stop",
    ];
    for (place, events) in [
        (FaultPosition::AfterEvents(0), 0),
        (FaultPosition::AfterEvents(1), 1),
        (FaultPosition::InBlock(0), 3),
        (FaultPosition::AfterBlock(0), 4),
        (FaultPosition::InBlock(1), 6),
        (FaultPosition::AfterEvents(9), 9),
    ] {
        let broken = two_texts().breaks(place, StreamFault::Cut);
        let server = AnthropicServer::start([broken]);

        let response = request_message(&server, &streamed("go")).await;

        assert_eq!(response.events(), full[..events], "{place:?}");
        assert_eq!(
            (response.status, response.end),
            (200, End::Broken),
            "{place:?}"
        );
        assert_eq!(ending(&server).await, Some(Ending::Cut));
    }
}

#[tokio::test]
async fn everything_before_a_cut_arrives_at_any_size() {
    // More than the buffers of both sides hold.
    let length = 8 << 20;
    let message = ScriptedMessage::new()
        .says("#".repeat(length))
        .in_pieces_of(100_000);
    let broken = message.breaks(FaultPosition::AfterBlock(0), StreamFault::Cut);
    let server = AnthropicServer::start([broken]);

    let response = request_message(&server, &streamed("go")).await;

    assert_eq!(response.body.matches('#').count(), length);
    assert_eq!(
        (response.events().last(), response.end),
        (Some(&STOP), End::Broken)
    );
}

#[tokio::test]
async fn an_event_without_json_is_sent_between_the_others() {
    let broken = two_texts().breaks(FaultPosition::AfterBlock(0), StreamFault::Malformed);
    let server = AnthropicServer::start([broken]);

    let response = request_message(&server, &streamed("go")).await;

    let data = response
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let readable: Vec<bool> = data
        .map(|data| serde_json::from_str::<serde_json::Value>(data).is_ok())
        .collect();
    assert_eq!(response.events().len(), 10);
    assert_eq!(readable.iter().filter(|ok| !**ok).count(), 1);
    assert!(!readable[4], "{}", response.body);
    assert_eq!(response.end, End::Proper);
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let error = StreamFault::Error {
        kind: "overloaded_error".into(),
        message: "Overloaded".into(),
    };
    let broken = two_texts().breaks(FaultPosition::InBlock(0), error);
    let server = AnthropicServer::start([broken]);

    let response = request_message(&server, &streamed("go")).await;

    assert_eq!(response.events(), [START, BLOCK, PIECE, "error"]);
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert!(
        response
            .body
            .ends_with(&format!("event: error\ndata: {error}\n\n"))
    );
    assert_eq!(response.end, End::Proper);
}

#[tokio::test]
async fn a_request_without_a_stream_gets_the_whole_message() {
    let broken = two_texts().breaks(FaultPosition::InBlock(0), StreamFault::Cut);
    let server = AnthropicServer::start([broken]);

    let response = request_message(&server, &prompt("go")).await;

    assert_eq!(response.json()["content"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_place_that_the_message_does_not_have_leaves_the_request_unanswered() {
    let broken = two_texts().breaks(FaultPosition::AfterBlock(2), StreamFault::Cut);
    let server = AnthropicServer::start([broken]).unverified();

    let response = request_message(&server, &streamed("go")).await;

    assert_eq!(response.status, 418);
    let reason = "the message breaks at AfterBlock(2), and has 2 blocks in 9 events";
    assert_eq!(server.log().unanswered()[0].unanswered(), Some(reason));
}

#[tokio::test]
async fn closed_connection_sends_nothing() {
    let server = AnthropicServer::start([Turn::disconnect()]);

    let response = request_message(&server, &streamed("go")).await;

    assert_eq!((response.status, response.body.as_str()), (0, ""));
    assert_eq!(ending(&server).await, Some(Ending::Cut));
}

#[tokio::test]
async fn a_slow_stream_takes_its_time_between_events() {
    let pace = Duration::from_millis(20);
    let server = AnthropicServer::start([two_texts().slowly(pace)]);
    let started = Instant::now();

    let response = request_message(&server, &streamed("go")).await;

    // Nine events have eight waits between them.
    assert!(started.elapsed() >= 8 * pace, "{:?}", started.elapsed());
    assert_eq!((response.events().len(), response.end), (9, End::Proper));
}

#[tokio::test]
async fn an_answer_can_be_delayed() {
    let delay = Duration::from_millis(100);
    let server = AnthropicServer::start([Turn::text("at last").after(delay)]);
    let started = Instant::now();

    let response = request_message(&server, &prompt("go")).await;

    assert!(started.elapsed() >= delay);
    assert_eq!(response.status, 200);
}
