//! A call whose progress and answer are sent as they come.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::response::Body;
use crate::talk::Call;

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
