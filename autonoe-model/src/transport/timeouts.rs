//! How long a provider may take.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{ModelError, ModelErrorCode};

/// How long a provider may take, step by step.
///
/// There is no limit for a whole answer: a model that thinks for an hour and shows that it
/// lives is not late. Who wants one drops the stream.
///
/// ```
/// use autonoe_model::Timeouts;
///
/// let patient: Timeouts = serde_json::from_str(r#"{"silenceMs": 900000}"#)?;
///
/// assert_eq!(patient, Timeouts { silence_ms: 900_000, ..Timeouts::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// Until there is a connection, with the look-up of its name and encryption, in milliseconds.
    #[schemars(range(min = 1))]
    pub connect_ms: u64,
    /// Until the answer begins, in milliseconds, the connection included.
    #[schemars(range(min = 1))]
    pub head_ms: u64,
    /// Between two parts of an answer, signs of life included, in milliseconds.
    #[schemars(range(min = 1))]
    pub silence_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_ms: 10_000,
            // A local server may have to load its model first.
            head_ms: 300_000,
            // Some services say nothing while a model thinks.
            silence_ms: 300_000,
        }
    }
}

impl Timeouts {
    /// Tells whether there is any time at all for each step.
    pub(crate) fn are_possible(self) -> bool {
        self.connect_ms > 0 && self.head_ms > 0 && self.silence_ms > 0
    }

    pub(crate) fn connect(self) -> Duration {
        Duration::from_millis(self.connect_ms)
    }

    pub(crate) fn head(self) -> Duration {
        Duration::from_millis(self.head_ms)
    }

    pub(crate) fn silence(self) -> Duration {
        Duration::from_millis(self.silence_ms)
    }
}

/// Waits for `work`, for so long; `missing` says what did not come.
pub(super) async fn within<T>(
    limit: Duration,
    missing: &str,
    work: impl Future<Output = T>,
) -> Result<T, ModelError> {
    let late = |_| {
        let message = format!("{missing} within {limit:?}");
        ModelError::new(ModelErrorCode::Timeout, message)
    };
    tokio::time::timeout(limit, work).await.map_err(late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_in_time_is_a_time_out() {
        let started = tokio::time::Instant::now();
        let never = std::future::pending::<()>();

        let error = within(Timeouts::default().silence(), "nothing came", never).await;

        let error = error.expect_err("it never comes");
        assert_eq!(error.code, ModelErrorCode::Timeout);
        assert_eq!(error.message, "nothing came within 300s");
        assert_eq!(started.elapsed(), Duration::from_secs(300));
    }
}
