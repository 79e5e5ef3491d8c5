//! Texts of waits: the lines that announce one, and the countdown.

use std::time::Duration;

use autonoe_core::event::WaitReason;
use autonoe_core::time::format_duration;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the lines that announce a wait from `now` until `until`, or none for the short pauses
/// between sessions.
pub fn announcement(reason: WaitReason, until: Timestamp, now: Timestamp) -> Vec<String> {
    // Rounded up: the event is a moment later than the decision.
    let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let wait = format_duration(Duration::from_secs(seconds));
    let at = clock(until, now);
    let next_try = format!("Next try at: {at}");
    match reason {
        WaitReason::Pause => Vec::new(),
        WaitReason::Quota => vec![
            format!("Quota exceeded, waiting {wait} until reset..."),
            format!("Quota resets at: {at}"),
        ],
        WaitReason::QuotaBackoff => vec![
            format!("Quota exceeded, waiting {wait} before the next try..."),
            next_try,
        ],
        WaitReason::RetryAfter => vec![
            format!("The service requested a wait of {wait} before the next try..."),
            next_try,
        ],
    }
}

/// Returns the countdown of a wait, or nothing for the short pauses between sessions.
pub fn countdown(reason: WaitReason, until: Timestamp, remaining: Duration) -> Option<String> {
    let wait_end = match reason {
        WaitReason::Pause => return None,
        WaitReason::Quota => "resets",
        WaitReason::QuotaBackoff | WaitReason::RetryAfter => "next try",
    };
    let now = until.checked_sub(remaining).unwrap_or(until);
    let (left, at) = (remaining_text(remaining), clock(until, now));
    Some(format!("Waiting... {left} remaining ({wait_end} at {at})"))
}

/// Formats a time: `6:00 PM UTC` on the day of `now`, `Nov 18, 6:00 PM UTC` on another day, and
/// with the year in another year.
fn clock(at: Timestamp, now: Timestamp) -> String {
    let (at, now) = (at.to_zoned(TimeZone::UTC), now.to_zoned(TimeZone::UTC));
    let format = match () {
        () if at.date() == now.date() => "%-I:%M %p UTC",
        () if at.year() == now.year() => "%b %-d, %-I:%M %p UTC",
        () => "%b %-d, %Y, %-I:%M %p UTC",
    };
    at.strftime(format).to_string()
}

/// Formats a duration, without seconds when it is an hour or longer.
fn remaining_text(remaining: Duration) -> String {
    let minutes = Duration::from_secs(remaining.as_secs() / 60 * 60);
    if remaining >= Duration::from_secs(60 * 60) {
        format_duration(minutes)
    } else {
        format_duration(remaining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    // Shows: interfaces/presenter/waiting-display-remaining-time-reset
    // Shows: spec/3.4/quota-output
    #[test]
    fn quota_wait_shows_remaining_and_reset_time() {
        for (until, seconds, expected) in [
            (
                "2026-11-15T18:00:00Z",
                2 * HOUR + 44 * 60 + 12,
                "2h 44m remaining (resets at 6:00 PM UTC)",
            ),
            (
                "2026-11-15T18:00:00Z",
                90,
                "1m 30s remaining (resets at 6:00 PM UTC)",
            ),
            (
                "2026-11-15T18:00:00Z",
                HOUR,
                "1h remaining (resets at 6:00 PM UTC)",
            ),
            (
                "2026-11-15T18:00:00Z",
                HOUR - 1,
                "59m 59s remaining (resets at 6:00 PM UTC)",
            ),
            // From the last second of the day before, and from the first of the day.
            (
                "2026-11-15T00:00:00Z",
                1,
                "1s remaining (resets at Nov 15, 12:00 AM UTC)",
            ),
            (
                "2026-11-15T23:59:59Z",
                24 * HOUR - 1,
                "23h 59m remaining (resets at 11:59 PM UTC)",
            ),
            (
                "2026-11-17T18:00:00Z",
                26 * HOUR + 10 * 60,
                "26h 10m remaining (resets at Nov 17, 6:00 PM UTC)",
            ),
            (
                "2026-11-18T09:00:00Z",
                72 * HOUR,
                "72h remaining (resets at Nov 18, 9:00 AM UTC)",
            ),
            (
                "2027-01-01T05:00:00Z",
                9 * HOUR,
                "9h remaining (resets at Jan 1, 2027, 5:00 AM UTC)",
            ),
        ] {
            let text = countdown(WaitReason::Quota, time(until), Duration::from_secs(seconds));
            assert_eq!(text, Some(format!("Waiting... {expected}")), "{until}");
        }
    }

    // Shows: interfaces/presenter/unknown-reset
    #[test]
    fn backoff_wait_shows_time_of_next_try() {
        let until = time("2026-11-15T18:00:00Z");
        for (reason, seconds, expected) in [
            (
                WaitReason::QuotaBackoff,
                300,
                Some("Waiting... 5m remaining (next try at 6:00 PM UTC)"),
            ),
            (
                WaitReason::RetryAfter,
                5,
                Some("Waiting... 5s remaining (next try at 6:00 PM UTC)"),
            ),
            (WaitReason::Pause, 3, None),
        ] {
            let text = countdown(reason, until, Duration::from_secs(seconds));
            assert_eq!(text.as_deref(), expected, "{reason:?}");
        }
    }

    // Shows: spec/3.4/quota-output
    #[test]
    fn a_quota_wait_is_announced_with_its_duration_and_its_reset() {
        for (reason, now, lines) in [
            // The text of the specification.
            (
                WaitReason::Quota,
                "2026-11-15T15:14:30Z",
                &[
                    "Quota exceeded, waiting 2h 45m 30s until reset...",
                    "Quota resets at: 6:00 PM UTC",
                ][..],
            ),
            // A few microseconds after the decision.
            (
                WaitReason::Quota,
                "2026-11-15T15:14:30.000042Z",
                &[
                    "Quota exceeded, waiting 2h 45m 30s until reset...",
                    "Quota resets at: 6:00 PM UTC",
                ],
            ),
            (
                WaitReason::Quota,
                "2026-11-12T17:59:59Z",
                &[
                    "Quota exceeded, waiting 72h 1s until reset...",
                    "Quota resets at: Nov 15, 6:00 PM UTC",
                ],
            ),
            (
                WaitReason::QuotaBackoff,
                "2026-11-15T17:55:00Z",
                &[
                    "Quota exceeded, waiting 5m before the next try...",
                    "Next try at: 6:00 PM UTC",
                ],
            ),
            (
                WaitReason::RetryAfter,
                "2026-11-15T17:58:55Z",
                &[
                    "The service requested a wait of 1m 5s before the next try...",
                    "Next try at: 6:00 PM UTC",
                ],
            ),
            (WaitReason::Pause, "2026-11-15T17:59:57Z", &[]),
        ] {
            let until = time("2026-11-15T18:00:00Z");

            assert_eq!(announcement(reason, until, time(now)), lines, "{now}");
        }
    }
}
