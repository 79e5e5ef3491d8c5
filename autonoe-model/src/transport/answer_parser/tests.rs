//! Tests of parsing streamed answers.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::wire::Wire;
use crate::wire::anthropic::{AnthropicWire, ThinkingStyle};
use crate::wire::gemini::GeminiWire;

type Outcome = Result<ModelReply, ModelError>;

fn anthropic() -> AnthropicWire {
    AnthropicWire {
        max_output_tokens: 100,
        thinking: ThinkingStyle::ByModel,
    }
}

/// Returns a message as sent over the connection.
fn message() -> String {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage": {
            "input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0,
               "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "text_delta", "text": "Grüße, 𝄞!"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
               "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let event = |data: serde_json::Value| {
        let name = data["type"].as_str().expect("a name");
        format!("event: {name}\ndata: {data}\n\n")
    };
    events.map(event).concat()
}

/// Parses pieces until the answer is complete, or to the end.
fn read<'a>(
    wire: &dyn Wire,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Outcome, Vec<ModelEvent>) {
    let mut new_events = Vec::new();
    let mut reading = AnswerParser::new(wire.decoder());
    for piece in pieces {
        match reading.push(piece, &mut new_events) {
            Ok(ParseProgress::More(more)) => reading = more,
            Ok(ParseProgress::Complete(reply)) => return (Ok(*reply), new_events),
            Err(error) => return (Err(error), new_events),
        }
    }
    (reading.finish(&mut new_events), new_events)
}

#[test]
fn an_answer_that_is_cut_anywhere_is_never_a_short_answer() {
    let message = message();
    let bytes = message.as_bytes();
    // It is complete even without its last blank line.
    let whole_from = message.trim_end().len();

    for length in 0..=bytes.len() {
        let (outcome, _) = read(&anthropic(), [&bytes[..length]]);

        match outcome {
            Ok(reply) => {
                assert!(length >= whole_from, "{length}");
                assert_eq!(reply.message.to_text(), "Grüße, 𝄞!");
            }
            Err(error) => {
                assert!(length < whole_from, "{length}");
                let is_known = matches!(
                    error.code,
                    ModelErrorCode::NetworkError | ModelErrorCode::InvalidResponse
                );
                assert!(is_known, "{length}: {error:?}");
            }
        }
    }
}

#[test]
fn a_failed_connection_reports_the_usage_so_far() {
    let cut = || ModelError::new(ModelErrorCode::Timeout, "nothing more came");
    let beginning = message()[..200].to_owned();
    let mut reading = AnswerParser::new(anthropic().decoder());
    if let Ok(ParseProgress::More(more)) = reading.push(beginning.as_bytes(), &mut Vec::new()) {
        reading = more;
    } else {
        panic!("it is not whole");
    }

    let error = reading.fail(cut()).expect_err("it is incomplete");

    assert_eq!(error.code, ModelErrorCode::Timeout);
    assert_eq!(error.usage.known().total(), 11);
}

#[test]
fn non_stream_body_is_an_error() {
    for (body, code) in [
        (
            "<html><body>Welcome!</body></html>",
            ModelErrorCode::InvalidResponse,
        ),
        ("{\"ok\": true}\n\n", ModelErrorCode::InvalidResponse),
        (": a sign of life\n\n", ModelErrorCode::NetworkError),
        ("", ModelErrorCode::NetworkError),
        ("\r\n\r\n", ModelErrorCode::NetworkError),
    ] {
        for wire in [&anthropic() as &dyn Wire, &GeminiWire::default()] {
            let (outcome, _) = read(wire, [body.as_bytes()]);
            assert_eq!(outcome.expect_err("no stream").code, code, "{body}");
        }
    }
}

#[test]
fn events_before_an_error_are_emitted() {
    let broken = format!(
        "{}data: {{broken\n\n",
        &message()[..message()
            .find("event: content_block_stop")
            .expect("it is there")]
    );

    let (outcome, new_events) = read(&anthropic(), [broken.as_bytes()]);

    assert_eq!(
        outcome.expect_err("broken").code,
        ModelErrorCode::InvalidResponse
    );
    assert_eq!(
        new_events.last(),
        Some(&ModelEvent::Text("Grüße, 𝄞!".into()))
    );
}

#[test]
fn an_answer_that_finished_before_the_connection_failed_is_whole() {
    // Its token counts are missing, but it has a stop reason.
    let chunk = json!({"candidates": [{
        "content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]});
    let body = format!("data: {chunk}\r\n\r\n");
    let reading = AnswerParser::new(GeminiWire::default().decoder());
    let Ok(ParseProgress::More(reading)) = reading.push(body.as_bytes(), &mut Vec::new()) else {
        panic!("it waits for its counts");
    };

    let reply = reading.fail(ModelError::new(ModelErrorCode::NetworkError, "cut"));

    assert_eq!(reply.expect("it is whole").message.to_text(), "Hi.");
}

proptest! {
    #[test]
    fn any_split_gives_the_same_answer(cuts in prop::collection::vec(0_usize..700, 0..12)) {
        let message = message();
        let bytes = message.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();

        let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);

        prop_assert_eq!(read(&anthropic(), pieces), read(&anthropic(), [bytes]));
    }
}
