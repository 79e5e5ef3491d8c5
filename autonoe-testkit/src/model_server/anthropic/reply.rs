//! A turn as what goes over the connection.

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::model_server::api::{Reply, StreamEnd};

use super::ids::Ids;
use super::turn::Kind;
use super::{Message, MessagesRequest, Place, Refusal, StreamFault, Turn, events};

/// Returns what answers `request`, or says why the turn cannot.
pub(super) fn reply(turn: &Turn, request: &MessagesRequest, ids: Ids) -> Result<Reply, String> {
    match &turn.kind {
        Kind::Message(message) if request.stream => stream(message, request, ids),
        Kind::Message(message) => {
            let whole = events::whole(message, request, ids)?;
            Ok(json(StatusCode::OK, message.headers.clone(), &whole, ids))
        }
        Kind::Refusal(refusal) => Ok(refuse(refusal, ids)),
        Kind::Disconnect => Ok(Reply::Disconnect),
        Kind::Hang => Ok(Reply::Hang),
    }
}

/// Returns a refusal as what goes over the connection.
pub(super) fn refuse(refusal: &Refusal, ids: Ids) -> Reply {
    let body = refusal.body(&ids.request());
    with_body(refusal.status(), refusal.headers(), body, ids)
}

/// Returns a JSON document as what goes over the connection.
pub(super) fn json(status: StatusCode, headers: HeaderMap, body: &Value, ids: Ids) -> Reply {
    with_body(status, headers, body.to_string().into(), ids)
}

fn with_body(status: StatusCode, headers: HeaderMap, body: Bytes, ids: Ids) -> Reply {
    Reply::Whole {
        status,
        headers: with_common(headers, "application/json", ids),
        body,
    }
}

fn stream(message: &Message, request: &MessagesRequest, ids: Ids) -> Result<Reply, String> {
    let events = events::stream(message, request, ids);
    let mut pieces: Vec<Bytes> = events
        .iter()
        .map(|event| frame(event.name, &event.data.to_string()))
        .collect();
    let mut end = StreamEnd::Finished;
    if let Some((place, fault)) = &message.fault {
        let before = events::events_before(*place, &events)
            .ok_or_else(|| no_such_place(*place, events.len(), message.blocks.len()))?;
        end = break_off(&mut pieces, before, fault);
    }
    let mut headers = with_common(
        message.headers.clone(),
        "text/event-stream; charset=utf-8",
        ids,
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(Reply::Stream {
        headers,
        pieces,
        pace: message.pace,
        end,
    })
}

/// Lets `fault` happen after `before` pieces, and returns how the stream ends then.
fn break_off(pieces: &mut Vec<Bytes>, before: usize, fault: &StreamFault) -> StreamEnd {
    match fault {
        StreamFault::Cut => {
            pieces.truncate(before);
            StreamEnd::Cut
        }
        StreamFault::Hang => {
            pieces.truncate(before);
            StreamEnd::Hang
        }
        StreamFault::Malformed => {
            let broken = r#"{"type": "content_block_delta", broken"#;
            pieces.insert(before, frame("content_block_delta", broken));
            StreamEnd::Finished
        }
        StreamFault::Error { kind, message } => {
            pieces.truncate(before);
            let error = json!({"type": "error", "error": {"type": kind, "message": message}});
            pieces.push(frame("error", &error.to_string()));
            StreamEnd::Finished
        }
    }
}

fn no_such_place(place: Place, events: usize, blocks: usize) -> String {
    format!("the message breaks at {place:?}, and has {blocks} blocks in {events} events")
}

fn frame(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}

/// Adds what every answer has, unless the script has said something else.
fn with_common(mut headers: HeaderMap, content_type: &'static str, ids: Ids) -> HeaderMap {
    let content_type = HeaderValue::from_static(content_type);
    headers.entry(CONTENT_TYPE).or_insert(content_type);
    if let Ok(id) = HeaderValue::try_from(ids.request()) {
        headers.entry("request-id").or_insert(id);
    }
    headers
}
