//! Alerts of a fleet, as they come: shown, and told to a service.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::replace_file_durably;
use autonoe_harness::{Alert, FleetHome};

use crate::commands::harness::alert_reader::{AlertReader, line_of};
use crate::compose::AlertWebhook;
use crate::error::CliError;
use crate::present::FleetLines;

/// How often it is looked whether there are new ones.
const EVERY: Duration = Duration::from_millis(300);

/// How long a service may take over what came last.
const LAST: Duration = Duration::from_secs(30);

/// Follows the alerts of a fleet.
///
/// Members are other processes: what they raise is read from the log of all. So neither the address
/// of a service nor its key has to go to them.
pub(super) struct Following {
    fleet: String,
    alerts: AlertReader,
    lines: Arc<FleetLines>,
    /// How many of the log were shown.
    shown: usize,
    service: Option<Service>,
}

/// A service, and how many alerts of the log it was told or is not to be told.
struct Service {
    webhook: AlertWebhook,
    told: usize,
    /// Where that is written down, so that who goes on with a fleet misses none.
    cursor: PathBuf,
}

impl Following {
    /// Begins with what comes from now on, and for a service where it was left before.
    pub(super) fn begin(
        home: &FleetHome,
        fleet: &str,
        webhook: Option<AlertWebhook>,
        lines: Arc<FleetLines>,
    ) -> Result<Self, CliError> {
        let mut alerts = AlertReader::new(home);
        let now = alerts.read()?.len();
        let service = webhook.map(|webhook| {
            let cursor = home.path().join(fleet).join("webhook");
            let kept = fs::read_to_string(&cursor).ok();
            let kept = kept.and_then(|text| text.trim().parse().ok());
            Service {
                webhook,
                told: kept.unwrap_or(now).min(now),
                cursor,
            }
        });
        Ok(Self {
            fleet: fleet.to_owned(),
            alerts,
            lines,
            shown: now,
            service,
        })
    }

    /// Shows and tells what comes, for ever.
    pub(super) async fn follow(&mut self) {
        loop {
            self.look().await;
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Shows and tells what came last, in bounded time.
    pub(super) async fn finish(&mut self) {
        if tokio::time::timeout(LAST, self.look()).await.is_err() {
            self.lines
                .warn("a service was not told of the last alerts in time");
        }
    }

    async fn look(&mut self) {
        let alerts = match self.alerts.read() {
            Ok(alerts) => alerts,
            Err(error) => {
                tracing::debug!(%error, "alerts cannot be read");
                return;
            }
        };
        for alert in alerts.iter().skip(self.shown) {
            if let Some(line) = line_of(alert, &self.fleet) {
                self.lines.alert(&line);
            }
        }
        self.shown = alerts.len();
        if let Some(service) = &mut self.service {
            service.tell(alerts, &self.fleet, &self.lines).await;
        }
    }
}

impl Service {
    async fn tell(&mut self, alerts: &[Alert], fleet: &str, lines: &FleetLines) {
        for alert in alerts.iter().skip(self.told) {
            if line_of(alert, fleet).is_some()
                && let Err(error) = self.webhook.tell(alert).await
            {
                lines.warn(&error.to_string());
            }
            self.told += 1;
            let kept = replace_file_durably(&self.cursor, self.told.to_string().as_bytes());
            if let Err(error) = kept {
                tracing::debug!(%error, "what a service was told cannot be written down");
            }
        }
    }
}
