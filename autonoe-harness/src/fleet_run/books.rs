//! What is written down of a fleet while it is led.

use std::sync::Arc;

use autonoe_core::{Clock, TraceContext};
use jiff::Timestamp;
use serde::Serialize;

use super::outcome::{Decided, FleetDecision};
use super::said::{alert_of, line_of};
use crate::{
    Accounts, Alert, AlertManager, FleetEvent, FleetEventKind, FleetLead, FleetRecord, FleetSpans,
    HarnessId, HarnessLog, Member, MemberState, MetaState, SqliteMeta, StateError,
};

/// Writes down what happens in a fleet, for who leads it.
pub(super) struct Books {
    pub(super) meta: SqliteMeta,
    pub(super) lead: FleetLead,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) log: HarnessLog,
    pub(super) alerts: Arc<AlertManager>,
    pub(super) members: Vec<Member>,
}

impl Books {
    /// Takes the lead of a fleet.
    pub(super) async fn open(
        meta: SqliteMeta,
        record: FleetRecord,
        clock: Arc<dyn Clock>,
        log: HarnessLog,
        alerts: Arc<AlertManager>,
    ) -> Result<Self, StateError> {
        let lead = meta.lead(&record.plan.id, clock.now()).await?;
        let mut books = Self {
            meta,
            lead,
            clock,
            log,
            alerts,
            members: record.members,
        };
        let pid = std::process::id();
        let epoch = books.lead.epoch;
        books.line(&format!("led by process {pid}, epoch {epoch}"));
        Ok(books)
    }

    /// Takes note of what happened: as a decision, as how a member stands, as a line for people and
    /// as an alert.
    ///
    /// # Errors
    ///
    /// It cannot be written down, or somebody else leads the fleet by now.
    pub(super) async fn note(&mut self, event: &FleetEvent) -> Result<(), StateError> {
        self.append(event, event.at).await?;
        self.log.line(event.at, &line_of(&event.kind));
        let mut was_told_to = false;
        let is_news = match &event.kind {
            FleetEventKind::Started { member, .. } | FleetEventKind::FoundAgain { member, .. } => {
                self.becomes(member, MemberState::Running, event.at).await?
            }
            FleetEventKind::Stopping { member, .. } => {
                self.becomes(member, MemberState::Stopping, event.at)
                    .await?
            }
            FleetEventKind::Ended { result } => {
                let own = self.members.iter().find(|member| member.id == result.id);
                // Who was told to stop did not fail by itself.
                was_told_to = own.is_some_and(|member| member.state == MemberState::Stopping);
                let ended = |member: &&Member| member.result().is_some();
                let place = self.members.iter().filter(ended).count();
                let state = MemberState::Ended {
                    place,
                    result: Box::new(result.clone()),
                };
                self.becomes(&result.id, state, event.at).await?
            }
            _ => true,
        };
        let is_told = is_news && !was_told_to;
        if is_told && let Some(alert) = alert_of(event, &self.members) {
            self.alert(alert).await;
        }
        Ok(())
    }

    /// Notes how a member stands; tells whether it was known to stand like that. The first word
    /// about its end stands, and nobody goes back.
    async fn becomes(
        &mut self,
        id: &HarnessId,
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
            self.meta.set_member(&self.lead, id, &state, at).await?;
            member.state = state;
        }
        Ok(is_news)
    }

    /// Returns the members that have ended, in the order in which they did.
    pub(super) fn ended(&self) -> Vec<HarnessId> {
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

    /// Writes down a decision. Once this returns, a crash does not undo it.
    pub(super) async fn decide(&mut self, decision: &FleetDecision) -> Result<(), StateError> {
        let line = match decision {
            FleetDecision::Traced { .. } => None,
            FleetDecision::Decided(_) => Some("the strategy is done".to_owned()),
            FleetDecision::Merged { commit } => {
                Some(format!("the work of the winner is in {commit}"))
            }
            FleetDecision::Concluded(concluded) => Some(match &concluded.not_merged {
                Some(why) => format!("error: the work of the winner was not merged: {why}"),
                None => format!(
                    "concluded; {} places of work are kept",
                    concluded.kept.len()
                ),
            }),
        };
        self.append(decision, self.clock.now()).await?;
        if let Some(line) = line {
            self.line(&line);
        }
        Ok(())
    }

    /// Returns what was decided by who led the fleet before.
    pub(super) async fn decided(&self) -> Result<Option<Decided>, StateError> {
        let found = self.decisions().await?.into_iter();
        let mut found = found.filter_map(|decision| match decision {
            FleetDecision::Decided(decided) => Some(*decided),
            _ => None,
        });
        // The first: who decided later did so although it was decided.
        Ok(found.next())
    }

    /// Continues the trace of the coordinator that led the fleet first, or records that of `spans` as
    /// the first.
    pub(super) async fn trace(&mut self, spans: &FleetSpans) -> Result<(), StateError> {
        let decisions = self.decisions().await?.into_iter();
        let mut traced = decisions.filter_map(|decision| match decision {
            FleetDecision::Traced {
                traceparent,
                tracestate,
            } => TraceContext::parse(&traceparent, tracestate.as_deref()).ok(),
            _ => None,
        });
        if let Some(first) = traced.next() {
            spans.resume(first);
            return Ok(());
        }
        let own = spans.fleet();
        self.decide(&FleetDecision::Traced {
            traceparent: own.traceparent(),
            tracestate: own.tracestate().map(str::to_owned),
        })
        .await
    }

    /// Returns the commit at which the work of the winner was in the base, if it was merged.
    pub(super) async fn merged(&self) -> Result<Option<String>, StateError> {
        let found = self.decisions().await?.into_iter();
        let mut found = found.filter_map(|decision| match decision {
            FleetDecision::Merged { commit } => Some(commit),
            _ => None,
        });
        Ok(found.next())
    }

    async fn decisions(&self) -> Result<Vec<FleetDecision>, StateError> {
        FleetDecision::all_of(&self.meta.decisions(&self.lead.fleet).await?)
    }

    pub(super) async fn save_accounts(&self, accounts: &Accounts) -> Result<(), StateError> {
        let now = self.clock.now();
        self.meta.save_accounts(&self.lead, accounts, now).await
    }

    pub(super) fn line(&mut self, text: &str) {
        self.log.line(self.clock.now(), text);
    }

    /// Raises an alert. That it cannot be written down holds nothing up.
    pub(super) async fn alert(&mut self, alert: Alert) {
        if let Err(error) = self.alerts.alert(alert).await {
            tracing::warn!(%error, "an alert of a fleet cannot be kept");
            self.line(&format!("error: {error}"));
        }
    }

    async fn append(&self, what: &impl Serialize, at: Timestamp) -> Result<(), StateError> {
        let what = serde_json::to_value(what)
            .map_err(|error| StateError::Invalid(format!("a decision is no JSON: {error}")))?;
        self.meta.append_decision(&self.lead, &what, at).await?;
        Ok(())
    }
}
