//! Times for people.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Writes when something happened, in whole seconds and marked as UTC.
///
/// ```
/// use autonoe_core::format_time;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_second_are_left_out_and_do_not_round_up() {
        for (at, shown) in [
            ("2026-01-01T00:00:00Z", "2026-01-01 00:00:00Z"),
            ("2026-12-31T23:59:59.999999999Z", "2026-12-31 23:59:59Z"),
            ("2026-06-01T12:30:00+02:00", "2026-06-01 10:30:00Z"),
        ] {
            assert_eq!(format_time(at.parse().expect(at)), shown);
        }
    }
}
