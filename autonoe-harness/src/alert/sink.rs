//! Who is told of alerts.

use async_trait::async_trait;

use super::Alert;

/// Is told of alerts: shows them, sends them on.
///
/// An implementer owes an answer in bounded time and must not block the thread; one that takes too
/// long is given up, and the alert stays in the log. The same alert is told once. A webhook is one:
/// it sends the alert as JSON, and says success only if it was taken.
///
/// The smallest one is a closure:
///
/// ```
/// use autonoe_harness::{Alert, AlertSink};
///
/// fn takes(_: impl AlertSink) {}
///
/// takes(|alert: &Alert| tracing::info!(kind = alert.kind, "an alert"));
/// ```
#[async_trait]
pub trait AlertSink: Send + Sync {
    /// Names it in diagnostics, for example `webhook`.
    fn name(&self) -> &str {
        "observer"
    }

    /// Tells an alert.
    ///
    /// # Errors
    ///
    /// It was not taken. That is traced; nothing else comes of it.
    async fn tell(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

#[async_trait]
impl<F: Fn(&Alert) + Send + Sync> AlertSink for F {
    async fn tell(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self(alert);
        Ok(())
    }
}
