//! [`FlowLimits`]: the limits of a flow beside those of its definition.

use std::time::Duration;

use autonoe_core::run::QuotaBackoff;
use autonoe_core::time::backoff;
use autonoe_core::{Budget, OnQuota};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::definition::Backoff;

/// The limits of a flow beside those of its definition.
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
    /// The budget of the whole flow, including the sessions of checks.
    pub budget: Budget,
    /// The reaction to a rate limit of the agent's service.
    pub on_quota: OnQuota,
    /// The backoff for rate limits without a reset time.
    pub quota_backoff: QuotaBackoff,
}

impl Backoff {
    /// Returns the wait before retry number `retry`, counted from 1.
    pub fn wait(&self, retry: u32) -> Duration {
        let [first, longest] = [self.initial_ms, self.max_ms].map(Duration::from_millis);
        backoff(first, longest, retry)
    }
}

/// Adds a duration to a time; saturates at [`Timestamp::MAX`].
pub(super) fn later(time: Timestamp, duration: Duration) -> Timestamp {
    SignedDuration::try_from(duration)
        .ok()
        .and_then(|duration| time.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Returns the time from `from` to `to`, or zero if `to` is earlier.
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
