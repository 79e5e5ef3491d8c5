//! HTTP responses: complete bodies and event streams.

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

use crate::protocol::Call;

/// Body of every response.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Returns a response with a JSON body.
pub(super) fn json(status: StatusCode, message: &Value) -> Response<Body> {
    let mut response = with(status, message.to_string());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with(status, String::new())
}

/// Refuses a request and closes the connection. Further bytes of the connection are not read.
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

/// Events queued for a slow reader. Progress notifications are dropped when the queue is full.
const QUEUE_LEN: usize = 64;

/// Runs a call and streams its progress and its answer. The call is cancelled when the client
/// disconnects.
pub(super) fn stream_call(call: Call, keep_alive: Duration) -> Response<Body> {
    let (pieces, read) = mpsc::channel::<Bytes>(QUEUE_LEN);
    tokio::spawn(run_call(call, pieces, keep_alive));
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

async fn run_call(call: Call, pieces: mpsc::Sender<Bytes>, keep_alive: Duration) {
    let cancellation = call.cancellation();
    let progress = pieces.clone();
    let work = call.run(move |note| {
        let _ = progress.try_send(event(&note));
    });
    tokio::pin!(work);
    let mut alive = interval(keep_alive);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick fires at once and tells the client that its call has started.
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

/// Formats a message as a server-sent event. JSON escapes line breaks, so one `data` line is
/// enough.
fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}
