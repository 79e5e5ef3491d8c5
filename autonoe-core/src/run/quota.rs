//! [`OnQuota`] and [`QuotaBackoff`], the reaction to an exceeded quota.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::InvalidValue;
use crate::time::timestamp::saturating_add;
use crate::time::{backoff, millis};

/// The reaction to an exceeded subscription quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnQuota {
    /// End the run.
    #[default]
    Stop,
    /// Wait until the quota resets, then continue.
    Wait,
}

/// The waits that apply when the reset time of the quota is unknown.
///
/// Each wait is twice as long as the one before, up to a limit.
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
    /// Refuses a backoff without a wait. `call` is the method that set it.
    ///
    /// # Errors
    ///
    /// The first or the longest wait is zero.
    pub fn check(&self, call: &'static str) -> Result<(), InvalidValue> {
        let reason = "a wait of 0 would call the backend in a busy loop; give longer waits";
        let has_no_wait = self.first.is_zero() || self.longest.is_zero();
        InvalidValue::reject_if(has_no_wait, call, reason)
    }

    /// Returns the time of the next try: the reset if it is in the future, otherwise after a
    /// backoff.
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
            // A reset time in the past says nothing about the next one: without a wait, the run
            // would retry at full speed.
            _ => saturating_add(now, backoff(self.first, self.longest, attempt)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_without_a_wait_is_refused() {
        const SECOND: Duration = Duration::from_secs(1);
        for (first, longest, is_valid) in [
            (SECOND, SECOND, true),
            (Duration::ZERO, SECOND, false),
            (SECOND, Duration::ZERO, false),
        ] {
            let backoff = QuotaBackoff { first, longest };
            assert_eq!(backoff.check("b").is_ok(), is_valid, "{backoff:?}");
        }
    }

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
