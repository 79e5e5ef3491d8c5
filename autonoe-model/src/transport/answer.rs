//! Answers that come.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, StatusCode};

use super::failure;
use super::request_id::request_id;
use super::retry_after::retry_after;
use super::timeouts::within;
use crate::contract::ModelError;
use crate::wire::Refusal;

/// How much is read of an answer that is no stream. It is only there to be understood.
const LONGEST_REFUSAL: usize = 64 << 10;

/// The beginning of an answer, and its body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

impl Answer {
    /// Tells whether the body is a stream of events, as far as the headers say.
    pub(super) fn is_event_stream(&self) -> bool {
        // Without a word about it, the body will tell.
        let Some(kind) = self.headers.get(CONTENT_TYPE) else {
            return true;
        };
        let kind = kind.to_str().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    }

    /// Reads an answer that is no stream, as far as it comes.
    pub(super) async fn into_refusal(mut self) -> Refusal {
        let mut body = Vec::new();
        // The status counts more than an incomplete body.
        while let Some(Ok(bytes)) = self.body.next().await {
            body.extend_from_slice(&bytes);
            if body.len() > LONGEST_REFUSAL {
                body.truncate(LONGEST_REFUSAL);
                break;
            }
        }
        let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        };
        Refusal {
            status: self.status.as_u16(),
            retry_after: retry_after(&self.headers, SystemTime::now()),
            request_id: request_id(&self.headers),
            headers: self.headers.iter().map(header).collect(),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

/// The body of an answer, as it comes.
#[derive(Debug)]
pub(super) struct Body {
    incoming: Incoming,
    silence: Duration,
    host: String,
}

impl Body {
    pub(super) fn new(incoming: Incoming, silence: Duration, host: &str) -> Self {
        Self {
            incoming,
            silence,
            host: host.to_owned(),
        }
    }

    /// Returns the next bytes, `None` after the last.
    ///
    /// # Errors
    ///
    /// The body is incomplete, or nothing came for too long.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, ModelError>> {
        loop {
            let missing = format!("{} said nothing more", self.host);
            let frame = within(self.silence, &missing, self.incoming.frame()).await;
            return match frame {
                Err(late) => Some(Err(late)),
                Ok(None) => None,
                Ok(Some(Err(error))) => Some(Err(failure::of_body(&error, &self.host))),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => Some(Ok(bytes)),
                    // Trailers say nothing that we know.
                    Err(_) => continue,
                },
            };
        }
    }

    /// Reads what is left after the last event, if it comes at once: only a connection
    /// whose answer was read to its end is used again.
    pub(super) async fn drain(mut self, patience: Duration) {
        let rest = async { while let Some(Ok(_)) = self.next().await {} };
        let _ = tokio::time::timeout(patience, rest).await;
    }
}
