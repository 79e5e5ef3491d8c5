//! [`Timeouts`]: timeouts and retry limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Timeouts and retry limits. The defaults were found by experiment.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_temporal::Timeouts;
///
/// let hasty = Timeouts { heartbeat: Duration::from_secs(10), ..Timeouts::default() };
///
/// assert_eq!(serde_json::to_value(hasty)?["heartbeatMs"], 10_000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// Time without a heartbeat after which a worker counts as dead, and its work is given to
    /// another one. The server may be unreachable for this long without affecting the work.
    #[serde(rename = "heartbeatMs", with = "millis")]
    pub heartbeat: Duration,
    /// Interval of heartbeats. A cancellation may take this long to reach a worker.
    #[serde(rename = "heartbeatIntervalMs", with = "millis")]
    pub heartbeat_interval: Duration,
    /// Time that the next workflow task waits for the worker that has the workflow in its cache,
    /// which may be dead.
    #[serde(rename = "stickyMs", with = "millis")]
    pub sticky: Duration,
    /// Maximum duration of one activity.
    #[serde(rename = "activityMs", with = "millis")]
    pub activity: Duration,
    /// Time that a session waits for the host that has claimed its run, before another host claims
    /// the run.
    #[serde(rename = "hostMs", with = "millis")]
    pub host: Duration,
    /// Time that the end of a run waits until its host has recorded it. The end is reported when it
    /// is recorded, or after this time.
    #[serde(rename = "endMs", with = "millis")]
    pub end: Duration,
    /// Maximum number of attempts of a run or session whose workers die.
    pub attempts: u32,
    /// Number of sessions after which a run continues with a new history. The server limits the
    /// length of a history.
    pub sessions_in_history: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(60),
            heartbeat_interval: Duration::from_secs(5),
            sticky: Duration::from_secs(3),
            activity: Duration::from_secs(7 * 24 * 3600),
            host: Duration::from_secs(60),
            end: Duration::from_secs(30),
            attempts: 10,
            sessions_in_history: 500,
        }
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        serializer.serialize_u64(millis)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
