//! What to do when the quota is spent.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::millis;

/// What to do when the subscription's quota is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnQuota {
    /// End the run.
    #[default]
    Stop,
    /// Wait until the quota comes back, then go on.
    Wait,
}

/// How long to wait when nobody says when the quota comes back.
///
/// The first wait, then twice as long each time, up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaBackoff {
    /// The first wait.
    #[serde(rename = "firstMs", with = "millis")]
    #[schemars(with = "u64")]
    pub first: Duration,
    /// The longest wait.
    #[serde(rename = "longestMs", with = "millis")]
    #[schemars(with = "u64")]
    pub longest: Duration,
}

impl Default for QuotaBackoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5 * 60),
            longest: Duration::from_secs(60 * 60),
        }
    }
}

impl QuotaBackoff {
    /// Returns when to try again: at the reset if it lies ahead, else after a back-off.
    ///
    /// `attempt` counts the quota stops in a row, from 1.
    pub fn next_try(
        &self,
        now: Timestamp,
        resets_at: Option<Timestamp>,
        attempt: u32,
    ) -> Timestamp {
        match resets_at {
            Some(reset) if reset > now => reset,
            // A reset that has passed already told nothing: without a wait we
            // would ask again and again at full speed.
            _ => later(now, self.wait(attempt)),
        }
    }

    fn wait(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }
}

/// Adds a duration to a time, and stops at the end of time.
pub(crate) fn later(time: Timestamp, duration: Duration) -> Timestamp {
    jiff::SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Returns the time from `from` to `to`, or zero when `to` is earlier.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    // Shows: spec/3.4/calculate-wait-duration, spec/3.4/passed-reset
    #[test]
    fn a_reset_ahead_is_waited_for_and_anything_else_backs_off() {
        let backoff = QuotaBackoff::default();

        for (resets_at, attempt, expected) in [
            (Some(at(20_000)), 1, 20_000),
            (Some(at(20_000)), 9, 20_000),
            (None, 1, 1000 + 300),
            (None, 2, 1000 + 600),
            (None, 5, 1000 + 3600),
            (None, u32::MAX, 1000 + 3600),
            (Some(at(1000)), 1, 1000 + 300),
            (Some(at(5)), 2, 1000 + 600),
        ] {
            assert_eq!(backoff.next_try(at(1000), resets_at, attempt), at(expected));
        }
    }
}
