//! [`RunAlerts`] raises alerts about a run or a flow.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::agent::{SessionEnd, SessionOutcome};
use autonoe_core::event::{Failure, RunEvent, RunEventKind, WaitReason};
use autonoe_core::ledger::DeliverableId;
use autonoe_core::run::ExitClass;
use autonoe_core::time::format_time;
use autonoe_core::{DeliverableStatus, Project, RunId, RunObserver, sanitize};
use autonoe_flow::{FlowAction, FlowEvent, FlowObserver};
use autonoe_harness::alert::{Alert, Severity};
use jiff::Timestamp;

use super::{Notifications, project_name};
use crate::error::{AppError, error_chain};
use crate::text::shorten;

/// Observes a run or a flow, and sends an alert when it needs attention or has ended.
///
/// The kinds of alerts are `finished`, `blocked`, `needs_person`, `quota_wait`,
/// `budget_nearly_spent` and `failed`. A cancelled run sends nothing: its operator stopped it.
pub struct RunAlerts {
    notifications: Arc<Notifications>,
    project: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    run: Option<RunId>,
    flow: Option<String>,
    has_ended: bool,
    /// Whether the quota was spent when the last session ended. Further waits raise no alert.
    waits_for_quota: bool,
    /// Deliverables that raised an alert, so that an agent cannot raise any number of them.
    blocked: BTreeSet<DeliverableId>,
    /// Time at which the last escalated step failed. A repeated notification raises no alert.
    escalated_at: Option<Timestamp>,
}

impl RunAlerts {
    pub fn new(notifications: Arc<Notifications>, project: &Project) -> Self {
        Self {
            notifications,
            project: project_name(project.root()),
            state: Mutex::default(),
        }
    }

    /// Returns the channels of the alerts.
    pub fn notifications(&self) -> &Arc<Notifications> {
        &self.notifications
    }

    /// Sends the error of a command, unless it happened after the end of the run, which sent an
    /// alert already. Returns whether an alert was sent.
    pub fn report_error(&self, error: &AppError, at: Timestamp) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_ended {
            return false;
        }
        let text = format!("it could not start: {error}");
        let alert = self.alert(&state, "failed", Severity::Error, &text, at);
        self.notifications.send(match error.hint() {
            Some(hint) => alert.detail("remedy", hint),
            None => alert,
        });
        true
    }

    fn alert(
        &self,
        state: &State,
        kind: &str,
        severity: Severity,
        text: &str,
        at: Timestamp,
    ) -> Alert {
        let message = sanitize(&format!("{}: {text}", self.project));
        let mut alert = Alert::new(kind, severity, message, at).detail("project", &*self.project);
        if let Some(run) = &state.run {
            alert = alert.detail("run", run.to_string());
        }
        if let Some(flow) = &state.flow {
            alert = alert.detail("flow", flow.as_str());
        }
        alert
    }

    fn ended(
        &self,
        state: &State,
        class: ExitClass,
        failure: Option<&Failure>,
        text: &str,
        at: Timestamp,
    ) -> Option<Alert> {
        let alert = |kind, severity| self.alert(state, kind, severity, text, at);
        Some(match class {
            ExitClass::Interrupted => return None,
            ExitClass::Success => alert("finished", Severity::Success),
            ExitClass::Blocked => alert("blocked", Severity::Warning),
            ExitClass::Failed
            | ExitClass::Retries
            | ExitClass::Iterations
            | ExitClass::Quota
            | ExitClass::Budget
            | ExitClass::Stalled => match failure {
                Some(error) => self.failed(state, text, error, at),
                None => alert("failed", Severity::Error),
            },
        })
    }

    /// Returns the alert for a failure. A failure with a remedy needs a person.
    fn failed(&self, state: &State, text: &str, error: &Failure, at: Timestamp) -> Alert {
        match &error.remedy {
            Some(remedy) => self
                .alert(state, "needs_person", Severity::Critical, text, at)
                .detail("remedy", remedy.as_str()),
            None => self.alert(state, "failed", Severity::Error, text, at),
        }
        .detail("code", error.code.as_str())
    }
}

impl RunObserver for RunAlerts {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = event.at;
        let alert = match &event.kind {
            RunEventKind::RunStarted { run, .. } => {
                state.run = Some((*run).clone());
                None
            }
            RunEventKind::FlowStarted { run, flow, .. } => {
                state.run = Some((*run).clone());
                state.flow = Some((*flow).to_owned());
                None
            }
            RunEventKind::StatusChanged { change }
                if change.status == DeliverableStatus::Blocked
                    && state.blocked.insert(change.id.clone()) =>
            {
                let text = format!("{} is blocked: {}", change.id, shorten(&change.description));
                let alert = self.alert(&state, "blocked", Severity::Warning, &text, at);
                Some(alert.detail("deliverable", change.id.to_string()))
            }
            RunEventKind::SessionEnded { result, .. } => {
                state.waits_for_quota &= matches!(
                    result.end,
                    SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. })
                );
                None
            }
            RunEventKind::WaitStarted {
                reason: WaitReason::Quota | WaitReason::QuotaBackoff,
                until,
            } if !std::mem::replace(&mut state.waits_for_quota, true) => {
                let text = format!("waiting for the quota until {}", format_time(*until));
                let alert = self.alert(&state, "quota_wait", Severity::Info, &text, at);
                Some(alert.detail("until", until.to_string()))
            }
            RunEventKind::BudgetNearlySpent { budget } => {
                let text = format!("80 % of the {budget} budget is spent");
                let kind = "budget_nearly_spent";
                let alert = self.alert(&state, kind, Severity::Warning, &text, at);
                Some(alert.detail("budget", serde_json::json!(budget)))
            }
            RunEventKind::RunEnded { report } => {
                state.has_ended = true;
                let exit = &report.exit;
                self.ended(&state, exit.class(), exit.failure(), &exit.to_string(), at)
            }
            RunEventKind::FlowEnded { report } => {
                state.has_ended = true;
                let exit = &report.exit;
                self.ended(&state, exit.class(), exit.failure(), &exit.to_string(), at)
            }
            _ => None,
        };
        if let Some(alert) = alert {
            self.notifications.send(alert);
        }
    }
}

impl FlowObserver for RunAlerts {
    fn on_event(&self, event: &FlowEvent<'_>) {
        let FlowEvent::Decided {
            action: FlowAction::Notify(order),
            ..
        } = event
        else {
            return;
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.escalated_at.replace(order.failed_at) == Some(order.failed_at) {
            return;
        }
        let reason = shorten(&error_chain(&order.failure));
        let text = format!("the step {} failed: {reason}", order.step);
        let at = order.failed_at;
        let alert = self
            .alert(&state, "needs_person", Severity::Critical, &text, at)
            .detail("step", order.step.as_str());
        self.notifications.send(alert);
    }
}
