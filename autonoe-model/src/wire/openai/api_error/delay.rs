//! Retry delays that services request.

use std::time::Duration;

use crate::wire::Refusal;

/// Maximum plausible delay in seconds: a hundred days.
const MAX_SECONDS: f64 = 8_640_000.0;

/// Returns the delay that a service requests, from the most precise source.
pub(super) fn requested_delay(refusal: &Refusal, words: Option<&str>) -> Option<Duration> {
    let millis = refusal
        .headers
        .iter()
        .find(|(name, _)| name == "retry-after-ms")
        .and_then(|(_, value)| value.trim().parse::<f64>().ok())
        .and_then(|millis| seconds(millis / 1_000.0));
    millis
        .or(refusal.retry_after)
        .or_else(|| words.and_then(delay_in_text))
}

/// Finds a delay in a text such as `Please try again in 1m2.5s.`
pub(super) fn delay_in_text(words: &str) -> Option<Duration> {
    let (_, rest) = words.split_once("try again in ")?;
    let mut rest = rest;
    let mut sum = None;
    while let Some((amount, unit, after)) = amount(rest) {
        let scale = match unit {
            "h" | "hour" | "hours" => 3_600.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "ms" | "millisecond" | "milliseconds" => 0.001,
            _ => return None,
        };
        sum = Some(sum.unwrap_or(0.0) + amount * scale);
        rest = after;
    }
    sum.and_then(seconds)
}

/// Parses a number and its unit from the beginning of a text.
fn amount(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(unit_at);
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
    Some((number.parse().ok()?, unit, after))
}

fn seconds(seconds: f64) -> Option<Duration> {
    let sensible = (0.0..=MAX_SECONDS).contains(&seconds);
    sensible.then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wait_is_found_in_words() {
        let table = [
            ("Please try again in 11.054s. Visit", Some(11_054)),
            ("Please try again in 350ms.", Some(350)),
            ("Please try again in 6m0s.", Some(360_000)),
            ("Please try again in 1h2m3.5s", Some(3_723_500)),
            ("try again in 20 seconds.", Some(20_000)),
            ("try again in a moment", None),
            ("try again in 5 parsecs", None),
            ("try again in 99999999999999999999s", None),
            ("slow down", None),
            ("try again in ", None),
        ];

        for (words, millis) in table {
            assert_eq!(
                delay_in_text(words),
                millis.map(Duration::from_millis),
                "{words}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_words_break_it(words in "(try again in )?[0-9.hms ]{0,12}.{0,12}") {
            delay_in_text(&words);
        }
    }
}
