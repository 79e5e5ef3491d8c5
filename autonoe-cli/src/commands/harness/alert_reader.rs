//! `AlertReader`, a cached reader of the alerts of a project.

use std::fs;

use autonoe_dashboard::{AlertLine, AlertSeverity};
use autonoe_harness::FleetHome;
use autonoe_harness::alert::{Alert, AlertLog, Severity};
use serde_json::Value;

use super::state_error;
use crate::error::CliError;

/// Reads the alerts of all fleets of a project. Parses the log again only when its length changes.
pub(super) struct AlertReader {
    log: AlertLog,
    /// Length of the log at the last read, in bytes.
    length: u64,
    alerts: Vec<Alert>,
}

impl AlertReader {
    pub(super) fn new(home: &FleetHome) -> Self {
        Self {
            log: AlertLog::new(home.shared_alert_log()),
            length: 0,
            alerts: Vec::new(),
        }
    }

    /// Returns all alerts, oldest first.
    pub(super) fn read(&mut self) -> Result<&[Alert], CliError> {
        let length = fs::metadata(self.log.path()).map_or(0, |file| file.len());
        if length != self.length {
            let history = self.log.read().map_err(|error| state_error(&error))?;
            self.alerts = history.alerts;
            self.length = length;
        }
        Ok(&self.alerts)
    }
}

/// Converts an alert of `fleet`; `None` for other fleets. A member has the ID `FLEET.MEMBER`.
pub(super) fn alert_line(alert: &Alert, fleet: &str) -> Option<AlertLine> {
    let severity = match alert.severity {
        Severity::Info => AlertSeverity::Info,
        Severity::Warning => AlertSeverity::Warning,
        Severity::Critical => AlertSeverity::Critical,
        Severity::Success => AlertSeverity::Success,
        Severity::Error => AlertSeverity::Error,
    };
    let line = AlertLine::new(severity, &*alert.kind, &*alert.message, alert.timestamp);
    let Some(harness) = &alert.member else {
        let alert_fleet = alert.context.get("fleet").and_then(Value::as_str);
        return (alert_fleet == Some(fleet)).then_some(line);
    };
    match harness.as_str().split_once('.') {
        Some((alert_fleet, member)) if alert_fleet == fleet => Some(line.member(member)),
        None if harness.as_str() == fleet => Some(line),
        _ => None,
    }
}
