//! The alerts of a fleet, read again only when there are new ones.

use std::fs;

use autonoe_dashboard::{AlertLine, AlertSeverity};
use autonoe_harness::{Alert, AlertLog, FleetHome, Severity};
use serde_json::Value;

use super::broken;
use crate::error::CliError;

/// Reads the alerts of all harnesses of a project, when there are new ones.
pub(super) struct AlertReader {
    log: AlertLog,
    /// How long the log was when it was read.
    length: u64,
    alerts: Vec<Alert>,
}

impl AlertReader {
    pub(super) fn new(home: &FleetHome) -> Self {
        Self {
            log: AlertLog::new(home.alerts_of_all()),
            length: 0,
            alerts: Vec::new(),
        }
    }

    /// Returns all alerts in the order in which they came.
    pub(super) fn read(&mut self) -> Result<&[Alert], CliError> {
        let length = fs::metadata(self.log.path()).map_or(0, |file| file.len());
        if length != self.length {
            let history = self.log.read().map_err(|error| broken(&error))?;
            self.alerts = history.alerts;
            self.length = length;
        }
        Ok(&self.alerts)
    }
}

/// Shows an alert, if it is one of the fleet: of a member, `FLEET.MEMBER`, or of all.
pub(super) fn line_of(alert: &Alert, fleet: &str) -> Option<AlertLine> {
    let severity = match alert.severity {
        Severity::Info => AlertSeverity::Info,
        Severity::Warning => AlertSeverity::Warning,
        Severity::Critical => AlertSeverity::Critical,
        Severity::Success => AlertSeverity::Success,
        Severity::Error => AlertSeverity::Error,
    };
    let line = AlertLine::new(severity, &*alert.kind, &*alert.message, alert.timestamp);
    let Some(harness) = &alert.harness else {
        let of = alert.context.get("fleet").and_then(Value::as_str);
        return (of == Some(fleet)).then_some(line);
    };
    match harness.as_str().split_once('.') {
        Some((of, member)) if of == fleet => Some(line.of(member)),
        None if harness.as_str() == fleet => Some(line),
        _ => None,
    }
}
