//! [`Timeouts`]: time limits of a provider.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{ModelError, ModelErrorCode};

/// Time limits of a provider, step by step.
///
/// There is no limit for a whole answer: a model may reason for an hour as long as its provider
/// shows activity. Callers that want a limit drop the stream.
///
/// ```
/// use autonoe_model::transport::Timeouts;
///
/// let patient: Timeouts = serde_json::from_str(r#"{"silenceMs": 900000}"#)?;
///
/// assert_eq!(patient, Timeouts { silence_ms: 900_000, ..Timeouts::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// Time limit of establishing a connection, including name lookup and encryption, in
    /// milliseconds.
    #[schemars(range(min = 1))]
    pub connect_ms: u64,
    /// Time limit until the answer starts, including the connection, in milliseconds.
    #[schemars(range(min = 1))]
    pub head_ms: u64,
    /// Time limit between two parts of an answer, including keep-alive messages, in milliseconds.
    #[schemars(range(min = 1))]
    pub silence_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_ms: 10_000,
            // A local server may have to load its model first.
            head_ms: 300_000,
            // Some services send nothing while a model reasons.
            silence_ms: 300_000,
        }
    }
}

impl Timeouts {
    /// Returns whether all time limits are positive.
    pub(crate) fn are_positive(self) -> bool {
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

/// Waits for `work` with a time limit. `missing` is the beginning of the error message.
pub(super) async fn with_timeout<T>(
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
    async fn missing_answer_times_out() {
        let started = tokio::time::Instant::now();
        let never = std::future::pending::<()>();

        let error = with_timeout(Timeouts::default().silence(), "nothing came", never).await;

        let error = error.expect_err("it never comes");
        assert_eq!(error.code, ModelErrorCode::Timeout);
        assert_eq!(error.message, "nothing came within 300s");
        assert_eq!(started.elapsed(), Duration::from_secs(300));
    }
}
