//! Answers that come.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use hyper::{HeaderMap, StatusCode};

use super::failure;
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

/// Where providers tell it.
const NAMES: [&str; 3] = ["request-id", "x-request-id", "x-goog-request-id"];

/// Returns the provider's name of a call, which its support asks for.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let found = NAMES.iter().find_map(|name| headers.get(*name))?;
    Some(found.to_str().ok()?.to_owned())
}

/// Returns how long a provider asks to wait.
///
/// It may say so in milliseconds, in seconds with a fraction, or as a date. A date is counted
/// from the date of the answer itself, so that it does not matter how our clock goes; from
/// `now` if the answer has none.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| -> Option<Duration> {
        let seconds: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    if let Some(asked) = text("retry-after-ms").and_then(|ms| {
        let ms: f64 = ms.parse().ok()?;
        Duration::try_from_secs_f64(ms / 1_000.0).ok()
    }) {
        return Some(asked);
    }
    let asked = text(RETRY_AFTER.as_str())?;
    seconds(asked).or_else(|| {
        let until = httpdate::parse_http_date(asked).ok()?;
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
    fn every_way_to_ask_for_a_wait_is_understood() {
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
