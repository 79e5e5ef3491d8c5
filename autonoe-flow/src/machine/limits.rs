//! The limits that a flow keeps to, beside those of its steps.

use std::time::Duration;

use autonoe_core::{Budget, OnQuota, QuotaBackoff};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::definition::Backoff;

/// The limits that a flow keeps to, beside those that its definition names.
///
/// ```
/// use autonoe_core::{Budget, CostUsd, OnQuota};
/// use autonoe_flow::FlowLimits;
///
/// let limits = FlowLimits {
///     budget: Budget::default().with_cost(CostUsd::from_cents(500)),
///     on_quota: OnQuota::Wait,
///     ..FlowLimits::default()
/// };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlowLimits {
    /// What may be spent in all, the sessions of checks included.
    pub budget: Budget,
    /// What to do when the service behind the agent asks to wait.
    pub on_quota: OnQuota,
    /// How to wait when nobody knows how long.
    pub quota_backoff: QuotaBackoff,
}

impl Backoff {
    /// Returns how long to wait before the try again of number `retry`, from 1.
    pub fn wait(&self, retry: u32) -> Duration {
        let doublings = retry.saturating_sub(1).min(63);
        let wait = self.initial_ms.saturating_mul(1 << doublings);
        Duration::from_millis(wait.min(self.max_ms))
    }
}

/// Adds a duration to a time, and stops at the end of time.
pub(super) fn later(time: Timestamp, duration: Duration) -> Timestamp {
    SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Returns the time from `from` to `to`, or zero when `to` is earlier.
pub(super) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_each_time_up_to_its_limit() {
        let backoff = Backoff::default();

        let waits = [1, 2, 3, 5, 6, 7, 100].map(|retry| backoff.wait(retry).as_millis());

        assert_eq!(waits, [1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000]);
    }
}
