//! How long a provider asks to wait.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{DATE, RETRY_AFTER};

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
