//! Snapshots as they come.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::ServeLimits;
use super::response::{Body, guard};
use crate::Dashboard;

/// One page that watches.
///
/// A page that reads slowly holds up nobody: a piece is made when there is room for it, of the
/// snapshot that is the newest then.
struct Watcher {
    fleet: watch::Receiver<Arc<Dashboard>>,
    ending: CancellationToken,
    heartbeat: Duration,
    pace: Duration,
    next_at: Instant,
    stage: Stage,
    _permit: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing was sent.
    First,
    Live,
    /// No more snapshots come.
    Over,
}

/// Sends snapshots until the page or the server ends.
pub(super) fn respond(
    fleet: watch::Receiver<Arc<Dashboard>>,
    ending: CancellationToken,
    limits: &ServeLimits,
    permit: OwnedSemaphorePermit,
) -> Response<Body> {
    let watcher = Watcher {
        fleet,
        ending,
        heartbeat: limits.heartbeat,
        pace: limits.pace,
        next_at: Instant::now(),
        stage: Stage::First,
        _permit: permit,
    };
    let pieces = futures::stream::unfold(watcher, async |mut watcher| {
        let piece = watcher.next().await?;
        Some((Ok(Frame::data(piece)), watcher))
    });
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    let headers = response.headers_mut();
    guard(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

impl Watcher {
    /// Returns what to send next; `None` when the server ends.
    async fn next(&mut self) -> Option<Bytes> {
        if self.stage == Stage::First {
            self.stage = Stage::Live;
            return Some(self.snapshot());
        }
        let news = async {
            sleep_until(self.next_at).await;
            self.fleet.changed().await
        };
        tokio::select! {
            biased;
            () = self.ending.cancelled() => None,
            changed = news, if self.stage == Stage::Live => Some(match changed {
                Ok(()) => self.snapshot(),
                Err(_) => {
                    self.stage = Stage::Over;
                    Bytes::from_static(b"event: end\ndata: {}\n\n")
                }
            }),
            () = sleep(self.heartbeat) => Some(Bytes::from_static(b"event: alive\ndata: {}\n\n")),
        }
    }

    fn snapshot(&mut self) -> Bytes {
        self.next_at = Instant::now() + self.pace;
        let newest = self.fleet.borrow_and_update().clone();
        match serde_json::to_string(&*newest) {
            // JSON has no line breaks that are not escaped.
            Ok(json) => Bytes::from(format!("event: snapshot\ndata: {json}\n\n")),
            Err(error) => {
                tracing::warn!(%error, "a snapshot cannot be written as JSON");
                Bytes::from_static(b"event: alive\ndata: {}\n\n")
            }
        }
    }
}
