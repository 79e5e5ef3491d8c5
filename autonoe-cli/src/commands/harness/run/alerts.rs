//! Follows the alerts of a fleet: prints them and sends notifications.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_app::Notifications;
use autonoe_core::project::replace_file_durably;
use autonoe_harness::FleetHome;
use autonoe_harness::alert::Alert;

use crate::commands::harness::snapshot::{AlertReader, alert_line};
use crate::commands::notify::finish;
use crate::error::CliError;
use crate::present::FleetLines;

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Follows the alerts of a fleet.
///
/// Members are separate processes, so their alerts are read from the shared log. Therefore members
/// need neither the address nor the key of a webhook.
pub(super) struct AlertFollower {
    fleet: String,
    alerts: AlertReader,
    lines: Arc<FleetLines>,
    /// Number of alerts in the log that were printed.
    printed: usize,
    sender: Sender,
}

/// The channels of the operator, and the alerts in the log that were sent to them.
struct Sender {
    notifications: Arc<Notifications>,
    /// Number of alerts in the log that were sent or skipped.
    sent: usize,
    /// Positions in the log of the alerts that were sent.
    positions: Vec<usize>,
    /// File that stores how many alerts of the log were handled, so that a resumed fleet misses no
    /// alert.
    cursor: PathBuf,
    /// The number in this file.
    saved: usize,
}

impl AlertFollower {
    /// Starts at the end of the log. Notifications start at the stored cursor, if there is one.
    pub(super) fn start(
        home: &FleetHome,
        fleet: &str,
        notifications: Arc<Notifications>,
        lines: Arc<FleetLines>,
    ) -> Result<Self, CliError> {
        let mut alerts = AlertReader::new(home);
        let now = alerts.read()?.len();
        let cursor = home.path().join(fleet).join("notified");
        let stored = fs::read_to_string(&cursor)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let sent = stored.unwrap_or(now).min(now);
        let warned = lines.clone();
        notifications.start(move |text| warned.warn(text));
        Ok(Self {
            fleet: fleet.to_owned(),
            alerts,
            lines,
            printed: now,
            sender: Sender {
                notifications,
                sent,
                positions: Vec::new(),
                cursor,
                saved: sent,
            },
        })
    }

    /// Prints and sends new alerts forever.
    pub(super) async fn follow(&mut self) {
        loop {
            self.poll();
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Prints and sends the last alerts, in bounded time.
    pub(super) async fn finish(&mut self) {
        self.poll();
        let print = |text: &str| self.lines.warn(text);
        if let Some(late) = finish(&self.sender.notifications, false, print).await {
            self.lines.warn(&late);
        }
        self.sender.save_cursor();
    }

    fn poll(&mut self) {
        let alerts = match self.alerts.read() {
            Ok(alerts) => alerts,
            Err(error) => {
                tracing::debug!(%error, "alerts cannot be read");
                return;
            }
        };
        for alert in alerts.iter().skip(self.printed) {
            if let Some(line) = alert_line(alert, &self.fleet) {
                self.lines.alert(&line);
            }
        }
        self.printed = alerts.len();
        self.sender.send(alerts, &self.fleet);
        self.sender.save_cursor();
    }
}

impl Sender {
    fn send(&mut self, alerts: &[Alert], fleet: &str) {
        for (position, alert) in alerts.iter().enumerate().skip(self.sent) {
            if alert_line(alert, fleet).is_some() {
                self.positions.push(position);
                self.notifications.send(alert.clone());
            }
        }
        self.sent = self.sent.max(alerts.len());
    }

    /// Saves how many alerts of the log were handled: every channel has delivered or given up each
    /// of them.
    fn save_cursor(&mut self) {
        if self.notifications.is_empty() {
            return;
        }
        let unhandled = self.positions.get(self.notifications.handled());
        let handled = unhandled.copied().unwrap_or(self.sent);
        if handled == self.saved && self.cursor.exists() {
            return;
        }
        self.saved = handled;
        if let Err(error) = replace_file_durably(&self.cursor, handled.to_string().as_bytes()) {
            tracing::debug!(%error, "the number of handled alerts cannot be saved");
        }
    }
}
