//! Timestamp formatting and saturating timestamp arithmetic.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a timestamp as UTC with whole seconds, truncating fractions.
///
/// ```
/// use autonoe_core::time::format_time;
///
/// let at = "2026-01-31T18:00:05.123456789Z".parse()?;
/// assert_eq!(format_time(at), "2026-01-31 18:00:05Z");
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn format_time(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%d %H:%M:%SZ")
        .to_string()
}

/// Adds a duration to a timestamp, saturating at [`Timestamp::MAX`].
pub(crate) fn saturating_add(time: Timestamp, duration: Duration) -> Timestamp {
    jiff::SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Returns the time from `from` to `to`, or zero if `to` is earlier.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_second_are_left_out_and_do_not_round_up() {
        for (at, formatted) in [
            ("2026-01-01T00:00:00Z", "2026-01-01 00:00:00Z"),
            ("2026-12-31T23:59:59.999999999Z", "2026-12-31 23:59:59Z"),
            ("2026-06-01T12:30:00+02:00", "2026-06-01 10:30:00Z"),
        ] {
            assert_eq!(format_time(at.parse().expect(at)), formatted);
        }
    }
}
