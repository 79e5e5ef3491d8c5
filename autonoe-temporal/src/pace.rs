//! How long to wait for what.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long to wait for what. The defaults were found by trial.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_temporal::Pace;
///
/// let hasty = Pace { heartbeat: Duration::from_secs(10), ..Pace::default() };
///
/// assert_eq!(serde_json::to_value(hasty)?["heartbeatMs"], 10_000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Pace {
    /// After how long without a word a worker counts as dead, and its work is given to another.
    /// For so long may the server be away without harm to the work.
    #[serde(rename = "heartbeatMs", with = "millis")]
    pub heartbeat: Duration,
    /// How often a worker tells the server how far it is. So long may a cancellation take to reach
    /// it.
    #[serde(rename = "beatMs", with = "millis")]
    pub beat: Duration,
    /// How long the next step of a run waits for the worker that has it in memory, which may be
    /// dead.
    #[serde(rename = "stickyMs", with = "millis")]
    pub sticky: Duration,
    /// How long one step of a run may take at most.
    #[serde(rename = "longestMs", with = "millis")]
    pub longest: Duration,
    /// How long a session waits for the host that its run has claimed, before another host claims
    /// the run.
    #[serde(rename = "hostMs", with = "millis")]
    pub host: Duration,
    /// How long the end of a run waits for its host to write it down there. It is told as soon as
    /// that is done, or then.
    #[serde(rename = "endMs", with = "millis")]
    pub end: Duration,
    /// How often a run or a session is begun whose workers die with it, before it has failed.
    pub attempts: u32,
    /// After how many sessions the history of a run is begun anew. The server bounds it.
    pub sessions_in_history: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(60),
            beat: Duration::from_secs(5),
            sticky: Duration::from_secs(3),
            longest: Duration::from_secs(7 * 24 * 3600),
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
