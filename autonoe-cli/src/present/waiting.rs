//! How a wait is shown.

use std::time::Duration;

use autonoe_core::{WaitReason, format_duration};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Says how long is still to wait, or nothing for the short pauses between sessions.
pub(super) fn text(reason: WaitReason, until: Timestamp, remaining: Duration) -> Option<String> {
    let what = match reason {
        WaitReason::Pause => return None,
        WaitReason::Quota => "resets",
        _ => "tries again",
    };
    let (left, at) = (remaining_text(remaining), clock(until));
    Some(format!("Waiting... {left} remaining ({what} at {at})"))
}

/// Writes a time of day for people: `6:00 PM UTC`.
pub(super) fn clock(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC)
        .strftime("%-I:%M %p UTC")
        .to_string()
}

/// Writes a duration; of long ones nobody counts the seconds.
fn remaining_text(remaining: Duration) -> String {
    let minutes = Duration::from_secs(remaining.as_secs() / 60 * 60);
    match remaining >= Duration::from_secs(60 * 60) {
        true => format_duration(minutes),
        false => format_duration(remaining),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_quota_says_when_it_ends() {
        let until: Timestamp = "2026-11-15T18:00:00Z".parse().expect("a time");
        for (reason, seconds, shown) in [
            (
                WaitReason::Quota,
                2 * 3600 + 44 * 60 + 12,
                Some("Waiting... 2h 44m remaining (resets at 6:00 PM UTC)"),
            ),
            (
                WaitReason::Quota,
                90,
                Some("Waiting... 1m 30s remaining (resets at 6:00 PM UTC)"),
            ),
            (
                WaitReason::QuotaBackoff,
                300,
                Some("Waiting... 5m remaining (tries again at 6:00 PM UTC)"),
            ),
            (
                WaitReason::RetryAfter,
                5,
                Some("Waiting... 5s remaining (tries again at 6:00 PM UTC)"),
            ),
            (WaitReason::Pause, 3, None),
        ] {
            let text = text(reason, until, Duration::from_secs(seconds));
            assert_eq!(text.as_deref(), shown, "{reason:?}");
        }
    }
}
