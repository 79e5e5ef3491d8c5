//! Faults inside an answer, with every vendor.

use std::time::{Duration, Instant};

use autonoe_testkit::model_server::{Ending, FaultPosition, ScriptedMessage, StreamFault, Turn};
use serde_json::{Value, json};

use crate::model_server::api::{ALL, AnyServer, Api, Delivery};
use crate::model_server::client::{End, TIMEOUT};

fn two_texts() -> ScriptedMessage {
    ScriptedMessage::new().says("one").says("two")
}

/// Returns the number of events before the first block, of each block, and after the last.
fn events_of(api: Api) -> (usize, usize, usize) {
    match api {
        // message_start; start, delta, stop; message_delta, message_stop.
        Api::Messages => (1, 3, 2),
        // created, in_progress; item, part, delta, three ends; completed.
        Api::Responses => (2, 6, 1),
        // The role; delta; the finish, the usage, [DONE].
        Api::Chat => (1, 1, 3),
        // A part; the finish.
        Api::Gemini => (0, 1, 1),
    }
}

async fn ending(server: &AnyServer) -> Option<Ending> {
    let log = server.log();
    let ended = log.wait_for(TIMEOUT, |seen| seen.ending.is_some());
    ended.await.expect("it comes to its end").ending
}

#[tokio::test]
async fn stream_is_cut_at_scripted_position() {
    for api in ALL {
        let (before, block, after) = events_of(api);
        // Within a block, up to its first piece.
        let within = match api {
            Api::Messages => 2,
            Api::Responses => 3,
            Api::Chat | Api::Gemini => 1,
        };
        let all = before + 2 * block + after;
        for (place, events) in [
            (FaultPosition::AfterEvents(0), 0),
            (FaultPosition::AfterEvents(1), 1),
            (FaultPosition::InBlock(0), before + within),
            (FaultPosition::AfterBlock(0), before + block),
            (FaultPosition::InBlock(1), before + block + within),
            (FaultPosition::AfterEvents(all), all),
        ] {
            let server = api.start([two_texts().breaks(place, StreamFault::Cut)]);

            let response = api.request_message(&server, "go", Delivery::Stream).await;

            assert_eq!(response.data().len(), events, "{api:?} {place:?}");
            assert_eq!(
                (response.status, response.end),
                (200, End::Broken),
                "{api:?}"
            );
            assert_eq!(ending(&server).await, Some(Ending::Cut));
        }
    }
}

#[tokio::test]
async fn a_stream_can_end_properly_with_something_missing() {
    for api in ALL {
        let (before, block, _) = events_of(api);
        let broken = two_texts().breaks(FaultPosition::AfterBlock(0), StreamFault::End);
        let server = api.start([broken]);

        let response = api.request_message(&server, "go", Delivery::Stream).await;

        assert_eq!(response.data().len(), before + block, "{api:?}");
        assert_eq!(
            (response.status, response.end),
            (200, End::Proper),
            "{api:?}"
        );
        assert_eq!(ending(&server).await, Some(Ending::Sent));
    }
}

#[tokio::test]
async fn an_event_without_json_is_sent_between_the_others() {
    for api in ALL {
        let (before, block, after) = events_of(api);
        let broken = two_texts().breaks(FaultPosition::AfterBlock(0), StreamFault::Malformed);
        let server = api.start([broken]);

        let response = api.request_message(&server, "go", Delivery::Stream).await;

        let data = response.data();
        assert_eq!(data.len(), before + 2 * block + after + 1, "{api:?}");
        let readable = |data: &str| serde_json::from_str::<Value>(data).is_ok();
        let broken: Vec<usize> = (0..data.len())
            .filter(|index| !readable(data[*index]) && data[*index] != "[DONE]")
            .collect();
        assert_eq!(broken, [before + block], "{api:?}");
        assert_eq!(response.end, End::Proper);
    }
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it() {
    for api in ALL {
        let error = StreamFault::Error {
            kind: "UNAVAILABLE".into(),
            message: "busy".into(),
        };
        let server = api.start([two_texts().breaks(FaultPosition::InBlock(0), error)]);

        let response = api.request_message(&server, "go", Delivery::Stream).await;

        let expected = match api {
            Api::Messages => json!({
                "type": "error",
                "error": {"type": "UNAVAILABLE", "message": "busy"},
            }),
            Api::Responses => json!({
                "type": "error", "code": "UNAVAILABLE", "message": "busy", "param": null,
                "sequence_number": 5,
            }),
            Api::Chat => json!({"error": {
                "type": "UNAVAILABLE", "message": "busy", "param": null, "code": null,
            }}),
            Api::Gemini => json!({"error": {
                "code": 503, "status": "UNAVAILABLE", "message": "busy",
            }}),
        };
        assert_eq!(response.chunks().pop(), Some(expected), "{api:?}");
        assert_eq!((response.status, response.end), (200, End::Proper));
        let named = matches!(api, Api::Messages | Api::Responses);
        let last = named.then_some("error");
        assert_eq!(response.events().last().copied(), last, "{api:?}");
    }
}

#[tokio::test]
async fn a_failed_answer_is_an_error_where_the_vendor_has_no_other_word() {
    for api in ALL {
        let failed = StreamFault::Failed {
            code: "rate_limit_exceeded".into(),
            message: "Please try again in 1.5s.".into(),
        };
        let server = api.start([two_texts().breaks(FaultPosition::AfterBlock(0), failed)]);

        let response = api.request_message(&server, "go", Delivery::Stream).await;

        let last = response.chunks().pop().unwrap();
        let (error, code) = match api {
            Api::Responses => {
                assert_eq!(last["type"], "response.failed");
                assert_eq!(last["sequence_number"], 8);
                assert_eq!(last["response"]["status"], "failed");
                (&last["response"]["error"], "code")
            }
            Api::Messages | Api::Chat => (&last["error"], "type"),
            Api::Gemini => (&last["error"], "status"),
        };
        assert_eq!(error[code], "rate_limit_exceeded", "{api:?}");
        assert_eq!(error["message"], "Please try again in 1.5s.", "{api:?}");
    }
}

#[tokio::test]
async fn silence_lasts_until_the_client_leaves() {
    for api in ALL {
        let in_a_block = two_texts().breaks(FaultPosition::InBlock(0), StreamFault::Hang);
        for turn in [Turn::hang(), in_a_block.into()] {
            let server = api.start([turn]);
            let body = api.prompt("go", Delivery::Stream);
            let client = api.open(&server, &body, Delivery::Stream).await;

            let under_way = server.log().wait_for(TIMEOUT, |seen| seen.number == 1);
            assert_eq!(under_way.await.unwrap().ending, None, "{api:?}");
            drop(client);

            assert_eq!(ending(&server).await, Some(Ending::PeerLeft), "{api:?}");
        }
    }
}

#[tokio::test]
async fn closed_connection_sends_nothing() {
    for api in ALL {
        let server = api.start([Turn::disconnect()]);

        let response = api.request_message(&server, "go", Delivery::Stream).await;

        assert_eq!(
            (response.status, response.body.as_str()),
            (0, ""),
            "{api:?}"
        );
        assert_eq!(ending(&server).await, Some(Ending::Cut));
    }
}

#[tokio::test]
async fn a_slow_stream_takes_its_time_between_events() {
    let pace = Duration::from_millis(10);
    for api in ALL {
        let (before, block, after) = events_of(api);
        let waits = before + 2 * block + after - 1;
        let server = api.start([two_texts().slowly(pace)]);
        let started = Instant::now();

        api.request_message(&server, "go", Delivery::Stream).await;

        let least = pace * u32::try_from(waits).unwrap();
        assert!(started.elapsed() >= least, "{api:?}");
    }
}

#[tokio::test]
async fn a_request_without_a_stream_gets_the_whole_message() {
    for api in ALL {
        let broken = ScriptedMessage::new()
            .says("one")
            .breaks(FaultPosition::InBlock(0), StreamFault::Cut);
        let server = api.start([broken]);

        let response = api.request_message(&server, "go", Delivery::Whole).await;

        assert_eq!(api.text(&response, Delivery::Whole), "one", "{api:?}");
    }
}

#[tokio::test]
async fn a_stream_can_arrive_in_packets_of_any_size_and_with_comments() {
    for api in ALL {
        // An umlaut is cut in two as well.
        let message = || ScriptedMessage::new().says("größer").in_pieces_of(3);
        let server = api.start([
            message(),
            message().in_packets_of(1),
            message().with_comments(),
        ]);

        let plain = api.request_message(&server, "go", Delivery::Stream).await;
        let bytes = api.request_message(&server, "go", Delivery::Stream).await;
        let comments = api.request_message(&server, "go", Delivery::Stream).await;

        for response in [&plain, &bytes, &comments] {
            assert_eq!(api.text(response, Delivery::Stream), "größer", "{api:?}");
            assert_eq!(response.data().len(), plain.data().len(), "{api:?}");
        }
        assert_eq!(plain.body.matches(": keep-alive").count(), 0);
        let count = comments.body.matches(": keep-alive").count();
        assert_eq!(count, comments.data().len(), "{api:?}");
    }
}
