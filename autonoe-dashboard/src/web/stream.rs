//! Server-sent event stream of snapshots.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::response::{Body, set_security_headers};
use super::{ServeLimits, Site};
use crate::{Dashboard, RunPage};

/// Event stream to one page.
///
/// A slow page delays no one: an event is built when the page can receive it, from the snapshot
/// that is the newest at that time.
struct Watcher {
    /// `None` if the site has no fleet, or its last snapshot was sent.
    fleet: Option<watch::Receiver<Arc<Dashboard>>>,
    /// `None` if the site has no run, or its last snapshot was sent.
    run: Option<watch::Receiver<Arc<RunPage>>>,
    ending: CancellationToken,
    heartbeat: Duration,
    pace: Duration,
    next_at: Instant,
    state: StreamState,
    _permit: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    /// Nothing has been sent.
    First,
    Live,
    /// No more snapshots follow.
    Over,
}

/// Streams snapshots until the page disconnects or the server shuts down.
pub(super) fn respond(
    site: &Site,
    ending: CancellationToken,
    limits: &ServeLimits,
    permit: OwnedSemaphorePermit,
) -> Response<Body> {
    let watcher = Watcher {
        fleet: site.fleet.as_ref().map(|fleet| fleet.source.watch()),
        run: site.run.as_ref().map(|run| run.view.clone()),
        ending,
        heartbeat: limits.heartbeat,
        pace: limits.snapshot_interval,
        next_at: Instant::now(),
        state: StreamState::First,
        _permit: permit,
    };
    let pieces = futures::stream::unfold(watcher, async |mut watcher| {
        let piece = watcher.next().await?;
        Some((Ok(Frame::data(piece)), watcher))
    });
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    let headers = response.headers_mut();
    set_security_headers(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// News for a page.
enum Change {
    Fleet,
    Run,
    /// All sources are gone.
    Over,
}

/// Event with the newest snapshot of a source; empty without a source.
fn event<T: Serialize>(name: &str, source: Option<&mut watch::Receiver<Arc<T>>>) -> String {
    let Some(source) = source else {
        return String::new();
    };
    let newest = source.borrow_and_update().clone();
    match serde_json::to_string(&*newest) {
        // JSON escapes line breaks, so one `data` line is enough.
        Ok(json) => format!("event: {name}\ndata: {json}\n\n"),
        Err(error) => {
            tracing::warn!(%error, "a snapshot cannot be written as JSON");
            "event: alive\ndata: {}\n\n".to_owned()
        }
    }
}

/// Waits for a new snapshot of a source. Returns `false`, and drops the source, if there is none
/// or no more will follow.
async fn changed<T>(source: &mut Option<watch::Receiver<T>>) -> bool {
    let Some(open) = source else { return false };
    if open.changed().await.is_ok() {
        return true;
    }
    *source = None;
    false
}

impl Watcher {
    /// Returns the next event, or `None` when the server shuts down.
    async fn next(&mut self) -> Option<Bytes> {
        if self.state == StreamState::First {
            self.state = StreamState::Live;
            self.next_at = Instant::now() + self.pace;
            let mut first = event("run", self.run.as_mut());
            first.push_str(&event("snapshot", self.fleet.as_mut()));
            return Some(first.into());
        }
        let (fleet, run) = (&mut self.fleet, &mut self.run);
        let news = async {
            sleep_until(self.next_at).await;
            tokio::select! {
                true = changed(fleet) => Change::Fleet,
                true = changed(run) => Change::Run,
                else => Change::Over,
            }
        };
        tokio::select! {
            biased;
            () = self.ending.cancelled() => None,
            changed = news, if self.state == StreamState::Live => {
                self.next_at = Instant::now() + self.pace;
                Some(match changed {
                    Change::Fleet => event("snapshot", self.fleet.as_mut()).into(),
                    Change::Run => event("run", self.run.as_mut()).into(),
                    Change::Over => {
                        self.state = StreamState::Over;
                        Bytes::from_static(b"event: end\ndata: {}\n\n")
                    }
                })
            }
            () = sleep(self.heartbeat) => Some(Bytes::from_static(b"event: alive\ndata: {}\n\n")),
        }
    }
}
