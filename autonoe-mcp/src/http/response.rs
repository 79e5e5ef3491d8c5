//! Responses: whole at once, and as streams of events.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::talk::Call;

/// What responses carry.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Sends a message.
pub(super) fn json(status: StatusCode, message: &Value) -> Response<Body> {
    let mut response = with(status, message.to_string());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Says nothing but how it went.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with(status, String::new())
}

/// Refuses a request, and talks no more on this connection: what follows in it is not read.
pub(super) fn refusal(status: StatusCode) -> Response<Body> {
    let mut response = with(
        status,
        status.canonical_reason().unwrap_or_default().to_owned(),
    );
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
        }
        _ => {}
    }
    response
}

fn with(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = status;
    response
}

/// How many pieces may wait for a slow reader. Of progress that has no room nobody hears.
const WAITING: usize = 64;

/// Carries a call out, and sends what comes of it. It is cancelled when nobody reads any more.
pub(super) fn respond(call: Call, keep_alive: Duration) -> Response<Body> {
    let (pieces, read) = mpsc::channel::<Bytes>(WAITING);
    tokio::spawn(carry_out(call, pieces, keep_alive));
    let body = futures::stream::unfold(read, async |mut read| {
        let piece = read.recv().await?;
        Some((Ok(Frame::data(piece)), read))
    });
    let mut response = Response::new(StreamBody::new(body).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

async fn carry_out(call: Call, pieces: mpsc::Sender<Bytes>, keep_alive: Duration) {
    let cancellation = call.cancellation();
    let told = pieces.clone();
    let work = call.carry_out(move |note| {
        let _ = told.try_send(event(&note));
    });
    tokio::pin!(work);
    let mut alive = interval(keep_alive);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is at once: the client hears that its call has begun.
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut work => break answer,
            () = pieces.closed(), if !cancellation.is_cancelled() => cancellation.cancel(),
            _ = alive.tick() => {
                let _ = pieces.try_send(Bytes::from_static(b":\n\n"));
            }
        }
    };
    if let Some(answer) = answer {
        let _ = pieces.send(event(&answer)).await;
    }
}

/// Writes a message as an event. JSON has no line breaks that are not escaped.
fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}
