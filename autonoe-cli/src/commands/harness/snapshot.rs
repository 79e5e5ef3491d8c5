//! A fleet at one moment, as views show it.

use std::time::Duration;

use autonoe_dashboard::{
    AlertLine, Dashboard, DashboardFeed, FleetPhase, Member, MemberStatus, Progress,
};
use autonoe_harness::{
    FleetHome, FleetRecord, HarnessId, HarnessStatus, MemberState, MetaState, SqliteMeta,
};
use jiff::Timestamp;
use serde_json::Value;

use super::alert_reader::{AlertReader, line_of};
use super::broken;
use crate::error::CliError;

/// How often a fleet is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// How many alerts are worth showing.
const ALERTS: usize = 50;

/// How many lines of a log are.
const LINES: usize = 12;

/// Looks at a fleet again and again.
pub(super) struct Watcher {
    home: FleetHome,
    fleet: String,
    alerts: AlertReader,
    /// What is kept of all fleets, once there is something.
    kept: Option<SqliteMeta>,
}

impl Watcher {
    pub(super) fn new(home: &FleetHome, fleet: &str) -> Self {
        Self {
            home: home.clone(),
            fleet: fleet.to_owned(),
            alerts: AlertReader::new(home),
            kept: None,
        }
    }

    /// Shows the fleet in `feed` for as long as this is polled.
    pub(super) async fn show_in(mut self, feed: DashboardFeed) {
        loop {
            match self.look(Timestamp::now()).await {
                Ok(Some(snapshot)) => feed.push(snapshot),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a fleet cannot be looked at"),
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Looks once.
    pub(super) async fn look_once(mut self, now: Timestamp) -> Result<Option<Dashboard>, CliError> {
        self.look(now).await
    }

    /// Returns how the fleet stands; `None` if it is not kept yet.
    async fn look(&mut self, now: Timestamp) -> Result<Option<Dashboard>, CliError> {
        if self.kept.is_none() && self.home.path().join("meta_state.db").exists() {
            let kept = self.home.meta().await;
            self.kept = Some(kept.map_err(|error| broken(&error))?);
        }
        let Some(kept) = &self.kept else {
            return Ok(None);
        };
        let record = kept.fleet(&self.fleet).await;
        let record = record.map_err(|error| broken(&error))?;
        record.map(|record| self.show(&record, now)).transpose()
    }

    /// Returns how a fleet stands that is kept so.
    pub(super) fn show(
        &mut self,
        record: &FleetRecord,
        now: Timestamp,
    ) -> Result<Dashboard, CliError> {
        let spec = &record.plan.spec;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let alerts = self.newest_alerts()?;
        let mut members = Vec::new();
        for (id, work) in &record.plan.members {
            let mut member = self.member(record, id, work)?;
            member.last_alert = alerts.iter().find(|alert| is_of(alert, id)).cloned();
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
        let taken = until.duration_since(record.created_at);
        fleet.elapsed = Duration::try_from(taken).unwrap_or_default();
        fleet.alerts = alerts;
        Ok(fleet)
    }

    fn phase(&self, record: &FleetRecord) -> Result<FleetPhase, CliError> {
        let wrong = |error: autonoe_harness::FolderError| broken(&error);
        let stop = self.home.stop_asked(&self.fleet).map_err(wrong)?;
        Ok(match &record.result {
            Some(result) if result.success => FleetPhase::Succeeded,
            Some(_) if stop.is_some() => FleetPhase::Stopped,
            Some(_) => FleetPhase::Failed,
            None if stop.is_some() => FleetPhase::Stopping,
            None if self.home.pause_asked(&self.fleet).map_err(wrong)? => FleetPhase::Paused,
            None => match self.home.coordinator(&self.fleet).map_err(wrong)? {
                Some(_) => FleetPhase::Running,
                None => FleetPhase::Waiting,
            },
        })
    }

    fn member(
        &self,
        record: &FleetRecord,
        id: &HarnessId,
        work: &Value,
    ) -> Result<Member, CliError> {
        let kept = record.members.iter().find(|member| member.id == *id);
        let work = work.get("work").unwrap_or(work);
        let task = &work["tasks"][0]["task"];
        let word = |name: &str| {
            [&task[name], &work[name]]
                .into_iter()
                .find_map(Value::as_str)
        };
        let backend = task["cli"].as_str().or(work["backend"].as_str());
        let mut member = Member::new(id.as_str(), backend.unwrap_or("-"));
        member.model = word("model").map(str::to_owned);
        let folder = self.home.folder_of(&self.fleet, id);
        let folder = folder.map_err(|error| broken(&error))?;
        // Most members are looked at before there is anything to see.
        if folder.path().join("order.json").exists() {
            let view = folder.view().map_err(|error| broken(&error))?;
            let spent = view.outcome.as_ref().map_or(view.at.spent, |it| it.spent);
            member.status = match view.status {
                // Whoever leads the fleet starts it again.
                HarnessStatus::Failed if view.is_lost => MemberStatus::Pending,
                status => status_of(status),
            };
            member.progress = Progress::of(view.at.progress);
            member.task.clone_from(&view.at.task);
            member.iteration = view.at.iteration;
            member.cost = spent.cost;
            member.tokens = spent.tokens;
            member.error.clone_from(&view.error);
            // A process that ended or was lost asks nobody.
            if matches!(member.status, MemberStatus::Running | MemberStatus::Paused) {
                member.question.clone_from(&view.at.question);
            }
            member.log = folder.log(LINES).map_err(|error| broken(&error))?;
        } else {
            member.unreachable = Some("it was not started yet".to_owned());
        }
        if let Some(MemberState::Ended { result, .. }) = kept.map(|member| &member.state) {
            member.progress = Progress::of(result.progress);
            // Who ended it knows best why.
            member.error = member.error.take().or_else(|| result.error.clone());
            if !member.status.has_ended() {
                member.status = match result.success {
                    true => MemberStatus::Completed,
                    false => MemberStatus::Failed,
                };
            }
        }
        Ok(member)
    }

    /// Returns the last alerts of this fleet, the most recent first.
    fn newest_alerts(&mut self) -> Result<Vec<AlertLine>, CliError> {
        let newest = self.alerts.read()?.iter().rev();
        let own = newest.filter_map(|alert| line_of(alert, &self.fleet));
        Ok(own.take(ALERTS).collect())
    }
}

fn is_of(alert: &AlertLine, id: &HarnessId) -> bool {
    let harness = alert.harness.as_ref();
    harness.is_some_and(|harness| harness.as_str() == id.as_str())
}

fn status_of(status: HarnessStatus) -> MemberStatus {
    match status {
        HarnessStatus::Pending => MemberStatus::Pending,
        HarnessStatus::Running => MemberStatus::Running,
        HarnessStatus::Paused => MemberStatus::Paused,
        HarnessStatus::Completed => MemberStatus::Completed,
        HarnessStatus::Failed => MemberStatus::Failed,
        HarnessStatus::Stopped => MemberStatus::Stopped,
    }
}
