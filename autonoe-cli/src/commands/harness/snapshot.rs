//! `Watcher`, which takes snapshots of a fleet for views, and `AlertReader`.

use std::fs;
use std::time::Duration;

use autonoe_dashboard::{
    AlertLine, AlertSeverity, Dashboard, DashboardFeed, FleetPhase, MemberRow, MemberRowStatus,
    Progress,
};
use autonoe_harness::alert::{Alert, AlertLog, Severity};
use autonoe_harness::state::{FleetRecord, SqliteMeta};
use autonoe_harness::strategy::{Member, MemberId, MemberState};
use autonoe_harness::{FleetHome, folder};
use jiff::Timestamp;
use serde_json::Value;

use crate::error::{CliError, OrFailure};

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of alerts in a snapshot.
const MAX_ALERTS: usize = 50;

/// Maximum number of log lines per member in a snapshot.
const MAX_LOG_LINES: usize = 12;

/// Takes snapshots of a fleet.
pub(super) struct Watcher {
    home: FleetHome,
    fleet: String,
    alerts: AlertReader,
    /// The state database of all fleets, once it exists.
    meta: Option<SqliteMeta>,
}

impl Watcher {
    pub(super) fn new(home: &FleetHome, fleet: &str) -> Self {
        Self {
            home: home.clone(),
            fleet: fleet.to_owned(),
            alerts: AlertReader::new(home),
            meta: None,
        }
    }

    /// Pushes snapshots to `feed` for as long as this future is polled.
    pub(super) async fn push_to(mut self, feed: DashboardFeed) {
        loop {
            match self.snapshot(Timestamp::now()).await {
                Ok(Some(snapshot)) => feed.push(snapshot),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "cannot read the state of a fleet"),
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Takes one snapshot.
    pub(super) async fn snapshot_once(
        mut self,
        now: Timestamp,
    ) -> Result<Option<Dashboard>, CliError> {
        self.snapshot(now).await
    }

    /// Takes a snapshot; `None` if the fleet is not recorded yet.
    async fn snapshot(&mut self, now: Timestamp) -> Result<Option<Dashboard>, CliError> {
        if self.meta.is_none() && self.home.path().join("meta_state.db").exists() {
            let meta = self.home.meta().await;
            self.meta = Some(meta.or_failure()?);
        }
        let Some(meta) = &self.meta else {
            return Ok(None);
        };
        let record = meta.fleet(&self.fleet).await.or_failure()?;
        record
            .map(|record| self.build_snapshot(&record, now))
            .transpose()
    }

    /// Builds the snapshot of a recorded fleet.
    pub(super) fn build_snapshot(
        &mut self,
        record: &FleetRecord,
        now: Timestamp,
    ) -> Result<Dashboard, CliError> {
        let spec = &record.spec;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let alerts = self.newest_alerts()?;
        let mut members = Vec::new();
        let orders = spec["members"].as_array().map_or(&[][..], Vec::as_slice);
        for recorded in &record.members {
            let id = &recorded.id;
            let order = orders.iter().find(|order| order["id"] == id.as_str());
            let work = order.map_or(&Value::Null, |order| &order["work"]);
            let mut member = self.member(recorded, work)?;
            member.last_alert = alerts.iter().find(|alert| is_about(alert, id)).cloned();
            members.push(member);
        }
        let mut fleet = Dashboard::new(text(&spec["objective"]), text(&spec["strategy"]["type"]))
            .with_members(members);
        fleet.phase = self.phase(record)?;
        fleet.started_at = (record.epoch > 0).then_some(record.created_at);
        let until = match record.result {
            Some(_) => record.updated_at,
            None => now,
        };
        let elapsed = until.duration_since(record.created_at);
        fleet.elapsed = Duration::try_from(elapsed).unwrap_or_default();
        fleet.alerts = alerts;
        Ok(fleet)
    }

    fn phase(&self, record: &FleetRecord) -> Result<FleetPhase, CliError> {
        let stop = self.home.stop_requested(&self.fleet).or_failure()?;
        Ok(match &record.result {
            Some(result) if result.success => FleetPhase::Succeeded,
            Some(_) if stop.is_some() => FleetPhase::Stopped,
            Some(_) => FleetPhase::Failed,
            None if stop.is_some() => FleetPhase::Stopping,
            None if self.home.is_pause_requested(&self.fleet).or_failure()? => FleetPhase::Paused,
            None => match self.home.coordinator(&self.fleet).or_failure()? {
                Some(_) => FleetPhase::Running,
                None => FleetPhase::Waiting,
            },
        })
    }

    fn member(&self, recorded: &Member, work: &Value) -> Result<MemberRow, CliError> {
        let id = &recorded.id;
        let task = &work["tasks"][0]["task"];
        let field = |name: &str| {
            [&task[name], &work[name]]
                .into_iter()
                .find_map(Value::as_str)
        };
        let backend = task["cli"].as_str().or(work["backend"].as_str());
        let mut member = MemberRow::new(id.as_str(), backend.unwrap_or("-"));
        member.model = field("model").map(str::to_owned);
        let folder = self.home.member_folder(&self.fleet, id).or_failure()?;
        // Most members are not started yet at the first snapshot.
        if folder.path().join("order.json").exists() {
            let view = folder.view().or_failure()?;
            let spent = view
                .outcome
                .as_ref()
                .map_or(view.progress.spent, |it| it.spent);
            member.status = match view.status {
                // The coordinator restarts a lost member.
                folder::MemberStatus::Failed if view.is_lost => MemberRowStatus::Pending,
                status => status_of(status),
            };
            member.progress = Progress::new(view.progress.progress);
            member.task.clone_from(&view.progress.task);
            member.iteration = view.progress.iteration;
            member.cost = spent.cost;
            member.tokens = spent.tokens;
            member.error.clone_from(&view.error);
            // A process that has ended or was lost waits for no answer.
            if matches!(
                member.status,
                MemberRowStatus::Running | MemberRowStatus::Paused
            ) {
                member.question.clone_from(&view.progress.question);
            }
            member.log = folder.log(MAX_LOG_LINES).or_failure()?;
        } else {
            member.unreachable = Some("it was not started yet".to_owned());
        }
        if let MemberState::Ended { result, .. } = &recorded.state {
            member.progress = Progress::new(result.progress);
            // The error of the member itself is more precise.
            member.error = member.error.take().or_else(|| result.error.clone());
            if !member.status.has_ended() {
                member.status = if result.success {
                    MemberRowStatus::Completed
                } else {
                    MemberRowStatus::Failed
                };
            }
        }
        Ok(member)
    }

    /// Returns the last alerts of this fleet, the most recent first.
    fn newest_alerts(&mut self) -> Result<Vec<AlertLine>, CliError> {
        let newest = self.alerts.read()?.iter().rev();
        let own = newest.filter_map(|alert| alert_line(alert, &self.fleet));
        Ok(own.take(MAX_ALERTS).collect())
    }
}

fn is_about(alert: &AlertLine, id: &MemberId) -> bool {
    let harness = alert.member.as_ref();
    harness.is_some_and(|harness| harness.as_str() == id.as_str())
}

fn status_of(status: folder::MemberStatus) -> MemberRowStatus {
    match status {
        folder::MemberStatus::Pending => MemberRowStatus::Pending,
        folder::MemberStatus::Running => MemberRowStatus::Running,
        folder::MemberStatus::Paused => MemberRowStatus::Paused,
        folder::MemberStatus::Completed => MemberRowStatus::Completed,
        folder::MemberStatus::Failed => MemberRowStatus::Failed,
        folder::MemberStatus::Stopped => MemberRowStatus::Stopped,
    }
}

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
            let history = self.log.read().or_failure()?;
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
