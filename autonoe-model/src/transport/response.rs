//! [`HttpResponse`]: HTTP response of a provider.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use hyper::{HeaderMap, StatusCode};

use super::failure;
use super::timeouts::with_timeout;
use crate::contract::ModelError;
use crate::wire::Refusal;

/// Maximum number of bytes to read of a response that is not a stream. It is only read for the
/// error message.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// Head and body of a response.
#[derive(Debug)]
pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

impl HttpResponse {
    /// Returns whether the body is an event stream according to the headers.
    pub(super) fn is_event_stream(&self) -> bool {
        // Without the header, the body decides.
        let Some(kind) = self.headers.get(CONTENT_TYPE) else {
            return true;
        };
        let kind = kind
            .to_str()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    }

    /// Reads a response that is not a stream, as far as it arrives.
    pub(super) async fn into_refusal(mut self) -> Refusal {
        let mut body = Vec::new();
        // The status is more important than a complete body.
        while let Some(Ok(bytes)) = self.body.next().await {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_REFUSAL_BYTES {
                body.truncate(MAX_REFUSAL_BYTES);
                break;
            }
        }
        Refusal {
            status: self.status.as_u16(),
            retry_after: retry_after(&self.headers, SystemTime::now()),
            request_id: request_id(&self.headers),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

/// Streamed body of a response.
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

    /// Returns the next bytes; `None` after the last.
    ///
    /// # Errors
    ///
    /// The body is incomplete, or nothing arrived for too long.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, ModelError>> {
        loop {
            let missing = format!("{} sent nothing more", self.host);
            let frame = with_timeout(self.silence, &missing, self.incoming.frame()).await;
            return match frame {
                Err(late) => Some(Err(late)),
                Ok(None) => None,
                Ok(Some(Err(error))) => Some(Err(failure::body_error(&error, &self.host))),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => Some(Ok(bytes)),
                    // Trailers are not used.
                    Err(_) => continue,
                },
            };
        }
    }

    /// Reads the rest after the last event, if it arrives at once. Only a connection whose response
    /// was read to the end can be reused.
    pub(super) async fn drain(mut self, patience: Duration) {
        let rest = async { while let Some(Ok(_)) = self.next().await {} };
        let _ = tokio::time::timeout(patience, rest).await;
    }
}

/// Headers in which providers send the ID.
const NAMES: [&str; 3] = ["request-id", "x-request-id", "x-goog-request-id"];

/// Returns the provider's ID of a call, for support requests.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let found = NAMES.iter().find_map(|name| headers.get(*name))?;
    Some(found.to_str().ok()?.to_owned())
}

/// Returns the delay that a provider requests.
///
/// Supports milliseconds, seconds with a fraction, and dates. A date is relative to the `Date`
/// header of the response, to be independent of the local clock, or to `now` if there is no such
/// header.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| -> Option<Duration> {
        let seconds: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    if let Some(requested) = text("retry-after-ms").and_then(|ms| {
        let ms: f64 = ms.parse().ok()?;
        Duration::try_from_secs_f64(ms / 1_000.0).ok()
    }) {
        return Some(requested);
    }
    let requested = text(RETRY_AFTER.as_str())?;
    seconds(requested).or_else(|| {
        let until = httpdate::parse_http_date(requested).ok()?;
        let date = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
        let wait = until.duration_since(date.unwrap_or(now));
        Some(wait.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE_OF_ANSWER: (&str, &str) = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");

    #[test]
    fn every_retry_after_format_is_parsed() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:27:00 GMT").expect("a date");
        let later = ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT");
        for (headers, expected) in [
            (vec![], None),
            (vec![("retry-after", "7")], Some(7.0)),
            (vec![("retry-after", " 0 ")], Some(0.0)),
            (vec![("retry-after", "1.5")], Some(1.5)),
            (vec![("retry-after-ms", "250")], Some(0.25)),
            (vec![("retry-after-ms", "250.5")], Some(0.2505)),
            (
                vec![("retry-after-ms", "250"), ("retry-after", "1")],
                Some(0.25),
            ),
            (
                vec![("retry-after-ms", "soon"), ("retry-after", "1")],
                Some(1.0),
            ),
            (vec![later], Some(90.0)),
            (vec![later, DATE_OF_ANSWER], Some(30.0)),
            (vec![later, ("date", "today")], Some(90.0)),
            (
                vec![("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")],
                Some(0.0),
            ),
            (vec![("retry-after", "-1")], None),
            (vec![("retry-after", "NaN")], None),
            (vec![("retry-after", "inf")], None),
            (vec![("retry-after", "1e300")], None),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "")], None),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.insert(*name, value.parse().expect("a value"));
            }
            let expected = expected.map(Duration::from_secs_f64);
            assert_eq!(retry_after(&map, now), expected, "{headers:?}");
        }
    }
}
