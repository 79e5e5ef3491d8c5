//! Duration formatting for humans, exponential backoff, and serde support in milliseconds.

use std::time::Duration;

/// Formats a duration as hours, minutes and whole seconds, omitting parts that are zero.
///
/// ```
/// use std::time::Duration;
/// use autonoe_core::time::format_duration;
///
/// assert_eq!(format_duration(Duration::from_secs(3661)), "1h 1m 1s");
/// assert_eq!(format_duration(Duration::ZERO), "0s");
/// ```
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut parts = Vec::with_capacity(3);
    if hours > 0 {
        parts.push(format!("{hours}h"));
    }
    if minutes > 0 {
        parts.push(format!("{minutes}m"));
    }
    if seconds > 0 || parts.is_empty() {
        parts.push(format!("{seconds}s"));
    }
    parts.join(" ")
}

/// Returns the wait after attempt number `attempt`, counted from 1: `first`, doubled after each
/// further attempt, at most `longest`.
pub fn backoff(first: Duration, longest: Duration, attempt: u32) -> Duration {
    // The longest duration has fewer than 100 bits of nanoseconds: further doublings do nothing.
    (1..attempt.min(100))
        .fold(first, |wait, _| wait.saturating_mul(2))
        .min(longest)
}

/// (De)serialises a `Duration` as whole milliseconds, for `#[serde(with = ..)]`.
///
/// Fractions of a millisecond round up, so that a saved budget never becomes zero.
#[doc(hidden)]
pub mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        whole_millis(*duration).serialize(serializer)
    }

    /// Returns the duration in milliseconds, rounded up.
    pub(crate) fn whole_millis(duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }

    /// Serde support for an optional duration.
    pub mod option {
        use super::{Deserialize, Deserializer, Duration, Serialize, Serializer};

        pub fn serialize<S: Serializer>(
            duration: &Option<Duration>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            duration.map(super::whole_millis).serialize(serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Duration>, D::Error> {
            Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: interfaces/logger/format-duration-all-six-examples
    #[test]
    fn durations_are_formatted_as_specified() {
        for (millis, text) in [
            (3_661_000, "1h 1m 1s"),
            (3_600_000, "1h"),
            (90_000, "1m 30s"),
            (60_000, "1m"),
            (5_000, "5s"),
            (0, "0s"),
        ] {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn a_backoff_doubles_up_to_its_limit_and_saturates() {
        let (first, longest) = (Duration::from_nanos(1), Duration::MAX);
        for (attempt, factor) in [(0, 1), (1, 1), (2, 2), (3, 4), (41, 1 << 40)] {
            assert_eq!(
                backoff(first, longest, attempt),
                Duration::from_nanos(factor)
            );
        }
        assert_eq!(backoff(first, longest, u32::MAX), longest);
        assert_eq!(backoff(longest, first, 1), first);
        assert_eq!(backoff(Duration::ZERO, longest, u32::MAX), Duration::ZERO);
    }

    #[test]
    fn zero_parts_are_left_out_and_parts_of_a_second_do_not_round_up() {
        assert_eq!(format_duration(Duration::from_secs(3605)), "1h 5s");
        assert_eq!(format_duration(Duration::from_millis(999)), "0s");
        assert_eq!(format_duration(Duration::from_millis(61_999)), "1m 1s");
    }
}
