//! Port for receivers of alerts.

use async_trait::async_trait;

use super::Alert;

/// Receives alerts, for example to display or to forward them.
///
/// Implementations must return in bounded time and must not block the thread. A sink that exceeds
/// its deadline is abandoned for that alert, which stays in the log. Each alert is delivered once.
/// A webhook, for example, sends the alert as JSON and returns success only if the server accepted
/// it.
///
/// The smallest sink is a closure:
///
/// ```
/// use autonoe_harness::alert::{Alert, AlertSink};
///
/// fn takes(_: impl AlertSink) {}
///
/// takes(|alert: &Alert| tracing::info!(kind = alert.kind, "an alert"));
/// ```
#[async_trait]
pub trait AlertSink: Send + Sync {
    /// Returns a name for diagnostics, for example `webhook`.
    fn name(&self) -> &str {
        "observer"
    }

    /// Delivers an alert.
    ///
    /// # Errors
    ///
    /// The alert was not accepted. The error is logged and has no other effect.
    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

#[async_trait]
impl<F: Fn(&Alert) + Send + Sync> AlertSink for F {
    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self(alert);
        Ok(())
    }
}
