//! Recorded decisions of a fleet, and the recorder of its events and decisions.

use std::sync::Arc;

use autonoe_core::agent::{Budget, BudgetUsage};
use autonoe_core::event::TraceContext;
use autonoe_core::time::Clock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::log_messages::{fleet_alert, fleet_budget_alerts, fleet_line};
use crate::alert::{Alert, AlertManager};
use crate::budget::Account;
use crate::coordinate::{FleetEvent, FleetEventKind, FleetReport, FleetSpans};
use crate::folder::MemberLog;
use crate::pluralize::pluralize;
use crate::state::{FleetRecord, LeaderToken, SqliteMeta, StateError};
use crate::strategy::{Member, MemberId, MemberState, spent_by};

/// Records the events and decisions of a fleet: in the state database, in the log and as alerts.
pub(super) struct FleetRecorder {
    meta: SqliteMeta,
    leader: LeaderToken,
    clock: Arc<dyn Clock>,
    log: MemberLog,
    alerts: Arc<AlertManager>,
    members: Vec<Member>,
    /// The budget of the whole fleet.
    budget: Budget,
}

impl FleetRecorder {
    /// Becomes the leader of a fleet.
    pub(super) async fn open(
        meta: SqliteMeta,
        record: FleetRecord,
        budget: Budget,
        clock: Arc<dyn Clock>,
        log: MemberLog,
        alerts: Arc<AlertManager>,
    ) -> Result<Self, StateError> {
        let leader = meta.acquire_leadership(&record.id, clock.now()).await?;
        let epoch = leader.epoch;
        let mut recorder = Self {
            meta,
            leader,
            clock,
            log,
            alerts,
            members: record.members,
            budget,
        };
        let pid = std::process::id();
        recorder.line(&format!("led by process {pid}, epoch {epoch}"));
        Ok(recorder)
    }

    /// Records an event: as a decision, as the state of a member, as a log line and as an alert.
    ///
    /// # Errors
    ///
    /// It cannot be recorded, or another process leads the fleet by now.
    pub(super) async fn record(&mut self, event: &FleetEvent) -> Result<(), StateError> {
        self.append(event, event.at).await?;
        self.log.line(event.at, &fleet_line(&event.kind));
        let spent_before = self.spent();
        let mut was_stopping = false;
        let is_news = match &event.kind {
            FleetEventKind::Started { member, .. } | FleetEventKind::RunFound { member, .. } => {
                self.set_state(member, MemberState::Running, event.at)
                    .await?
            }
            FleetEventKind::Stopping { member, .. } => {
                self.set_state(member, MemberState::Stopping, event.at)
                    .await?
            }
            FleetEventKind::Ended { result } => {
                let own = self.members.iter().find(|member| member.id == result.id);
                // A stopped member did not fail by itself.
                was_stopping = own.is_some_and(|member| member.state == MemberState::Stopping);
                let ended = |member: &&Member| member.result().is_some();
                let place = self.members.iter().filter(ended).count();
                let state = MemberState::Ended {
                    place,
                    result: Box::new(result.clone()),
                };
                self.set_state(&result.id, state, event.at).await?
            }
            FleetEventKind::FleetStarted { .. }
            | FleetEventKind::WaitsForBudget { .. }
            | FleetEventKind::Paused
            | FleetEventKind::Resumed
            | FleetEventKind::CutShort { .. }
            | FleetEventKind::Finished { .. } => true,
        };
        let raises_alert = is_news && !was_stopping;
        if raises_alert && let Some(alert) = fleet_alert(event, &self.members) {
            self.alert(alert).await;
        }
        for alert in fleet_budget_alerts(event, &self.budget, &spent_before, &self.spent()) {
            self.alert(alert).await;
        }
        Ok(())
    }

    /// Returns the usage of the ended members.
    fn spent(&self) -> BudgetUsage {
        spent_by(self.members.iter().filter_map(Member::result))
    }

    /// Records the state of a member, and returns whether it is new. The first recorded end is
    /// final, and no member returns to an earlier state.
    async fn set_state(
        &mut self,
        id: &MemberId,
        state: MemberState,
        at: Timestamp,
    ) -> Result<bool, StateError> {
        let Some(member) = self.members.iter_mut().find(|member| member.id == *id) else {
            return Ok(false);
        };
        let is_news = match (&member.state, &state) {
            (MemberState::Ended { .. }, _) | (_, MemberState::Waiting) => false,
            (MemberState::Stopping, MemberState::Running) => false,
            (before, after) => before != after,
        };
        if is_news {
            self.meta.set_member(&self.leader, id, &state, at).await?;
            member.state = state;
        }
        Ok(is_news)
    }

    /// Returns the ended members, in the order in which they ended.
    pub(super) fn ended_members(&self) -> Vec<MemberId> {
        let ended = self
            .members
            .iter()
            .filter_map(|member| match &member.state {
                MemberState::Ended { place, .. } => Some((*place, member.id.clone())),
                _ => None,
            });
        let mut ended: Vec<_> = ended.collect();
        ended.sort();
        ended.into_iter().map(|(_, id)| id).collect()
    }

    /// Records a decision. Once this returns, a crash does not undo it.
    pub(super) async fn record_decision(
        &mut self,
        decision: &FleetDecision,
    ) -> Result<(), StateError> {
        let line = match decision {
            FleetDecision::Traced { .. } => None,
            FleetDecision::Decided(_) => Some("the strategy has finished".to_owned()),
            FleetDecision::Merged { commit } => {
                Some(format!("the winner's work is merged as {commit}"))
            }
        };
        self.append(decision, self.clock.now()).await?;
        if let Some(line) = line {
            self.line(&line);
        }
        Ok(())
    }

    /// Records the end of the fleet.
    pub(super) async fn finish(&mut self, report: &FleetReport) -> Result<(), StateError> {
        let now = self.clock.now();
        self.meta.finish_fleet(&self.leader, report, now).await?;
        self.line(&match &report.not_merged {
            Some(reason) => format!("error: the winner's work was not merged: {reason}"),
            None => {
                let worktrees = pluralize(report.unmerged_work.len(), "worktree");
                format!("finished; {worktrees} with unmerged work")
            }
        });
        Ok(())
    }

    /// Returns the decision of an earlier coordinator, if there is one.
    pub(super) async fn recorded_decision(&self) -> Result<Option<FleetReport>, StateError> {
        self.first_decision(|decision| match decision {
            FleetDecision::Decided(report) => Some(*report),
            _ => None,
        })
        .await
    }

    /// Continues the trace of the first coordinator of the fleet, or records that of `spans` as the
    /// first.
    pub(super) async fn trace(&mut self, spans: &FleetSpans) -> Result<(), StateError> {
        let traced = self.first_decision(|decision| match decision {
            FleetDecision::Traced {
                traceparent,
                tracestate,
            } => TraceContext::parse(&traceparent, tracestate.as_deref()).ok(),
            _ => None,
        });
        if let Some(first) = traced.await? {
            spans.resume(first);
            return Ok(());
        }
        let own = spans.fleet();
        self.record_decision(&FleetDecision::Traced {
            traceparent: own.traceparent(),
            tracestate: own.tracestate().map(str::to_owned),
        })
        .await
    }

    /// Returns the commit with the work of the winner, if it was merged.
    pub(super) async fn merged_commit(&self) -> Result<Option<String>, StateError> {
        self.first_decision(|decision| match decision {
            FleetDecision::Merged { commit } => Some(commit),
            _ => None,
        })
        .await
    }

    /// Returns the first decision that `select` accepts. Later ones of its kind do not count.
    async fn first_decision<T>(
        &self,
        select: impl Fn(FleetDecision) -> Option<T>,
    ) -> Result<Option<T>, StateError> {
        for record in self.meta.decisions(&self.leader.fleet).await? {
            // The other records are events.
            if record.decision.get("decision").is_none() {
                continue;
            }
            let decision = serde_json::from_value(record.decision).map_err(|error| {
                let number = record.number;
                StateError::Invalid(format!(
                    "cannot parse decision {number} of a fleet: {error}"
                ))
            })?;
            if let Some(selected) = select(decision) {
                return Ok(Some(selected));
            }
        }
        Ok(None)
    }

    pub(super) async fn save_accounts(&self, accounts: &Account) -> Result<(), StateError> {
        let now = self.clock.now();
        self.meta.save_accounts(&self.leader, accounts, now).await
    }

    pub(super) async fn saved_account(&self) -> Result<Option<Account>, StateError> {
        self.meta.accounts(&self.leader.fleet).await
    }

    pub(super) fn line(&mut self, text: &str) {
        self.log.line(self.clock.now(), text);
    }

    /// Raises an alert. A failure to record it is logged, and blocks nothing.
    pub(super) async fn alert(&mut self, alert: Alert) {
        if let Err(error) = self.alerts.alert(alert).await {
            tracing::warn!(%error, "cannot record an alert of a fleet");
            self.line(&format!("error: {error}"));
        }
    }

    async fn append(&self, decision: &impl Serialize, at: Timestamp) -> Result<(), StateError> {
        let decision = serde_json::to_value(decision).map_err(|error| {
            StateError::Invalid(format!("cannot serialise a decision: {error}"))
        })?;
        self.meta
            .append_decision(&self.leader, &decision, at)
            .await?;
        Ok(())
    }
}

/// A decision of a coordinator, in addition to the events of its fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "decision",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum FleetDecision {
    /// The fleet has spans. Later coordinators put theirs below that of the first.
    Traced {
        /// The `traceparent` of the span of the fleet.
        traceparent: String,
        /// The `tracestate`, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tracestate: Option<String>,
    },
    /// The strategy has finished. The first decision of this kind is final.
    Decided(Box<FleetReport>),
    /// The work of the winner is in the base.
    Merged {
        /// The commit of the base that contains it.
        commit: String,
    },
}
