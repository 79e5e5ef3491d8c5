//! Log lines and alerts of fleets and their members.

use autonoe_core::agent::{Budget, BudgetUsage};
use jiff::Timestamp;

use crate::alert::{Alert, Severity};
use crate::coordinate::{FleetEvent, FleetEventKind};
use crate::pluralize::pluralize;
use crate::recovery::RecoveryChange;
use crate::strategy::{Member, MemberId};
use crate::stuck::StuckLevel;
use crate::work::WorkEvent;

/// Returns the log line of an event of a fleet.
pub(super) fn fleet_line(kind: &FleetEventKind) -> String {
    match kind {
        FleetEventKind::FleetStarted { strategy, members } => {
            let members = pluralize(members.len(), "member");
            format!("{strategy} starts with {members}")
        }
        FleetEventKind::Started { member, .. } => format!("{member} started"),
        FleetEventKind::RunFound { member, .. } => format!("{member} is already running"),
        FleetEventKind::WaitsForBudget { member, reason } => {
            format!("{member} waits for budget: {reason}")
        }
        FleetEventKind::Paused => "paused".to_owned(),
        FleetEventKind::Resumed => "resumed".to_owned(),
        FleetEventKind::Stopping { member, reason } => format!("stopping {member}: {reason}"),
        FleetEventKind::Ended { result } => match (result.success, &result.error) {
            (true, _) => format!("{} succeeded", result.id),
            (false, Some(reason)) => format!("{} failed: {reason}", result.id),
            (false, None) => format!("{} failed", result.id),
        },
        FleetEventKind::CutShort { reason } => format!("ended early: {reason}"),
        FleetEventKind::Finished { success, winner } => match (success, winner) {
            (true, Some(winner)) => format!("succeeded; the winner is {winner}"),
            (true, None) => "succeeded".to_owned(),
            (false, _) => "not succeeded".to_owned(),
        },
    }
}

/// Returns the alert that an event of a fleet raises. `members` is the state after the event.
pub(super) fn fleet_alert(event: &FleetEvent, members: &[Member]) -> Option<Alert> {
    let fleet = &event.fleet;
    let new_alert = |kind: &str, severity, message: String| {
        let alert = Alert::new(kind, severity, message, event.at);
        Some(alert.detail("fleet", fleet.as_str()))
    };
    let about = |alert: Option<Alert>, member: &MemberId| {
        alert.map(|alert| alert.member(MemberId::new(format!("{fleet}.{member}"))))
    };
    match &event.kind {
        FleetEventKind::WaitsForBudget { member, reason } => {
            let message = format!("{member} waits for budget: {reason}");
            about(
                new_alert("waits_for_budget", Severity::Warning, message),
                member,
            )
        }
        FleetEventKind::CutShort { reason } => {
            new_alert("cut_short", Severity::Warning, reason.to_string())
        }
        FleetEventKind::Ended { result } if !result.success => {
            let reason = result.error.as_deref().unwrap_or("no reason was given");
            let message = format!("{} did not succeed: {reason}", result.id);
            about(
                new_alert("member_failed", Severity::Error, message),
                &result.id,
            )
        }
        FleetEventKind::Finished { success, .. } => {
            let done = members.iter().filter_map(Member::result);
            let done = done.filter(|result| result.success).count();
            let message = format!(
                "the fleet {fleet} has ended: {done} of {} succeeded",
                pluralize(members.len(), "member")
            );
            let (kind, severity) = if *success {
                ("finished", Severity::Success)
            } else {
                ("failed", Severity::Error)
            };
            new_alert(kind, severity, message)
        }
        _ => None,
    }
}

/// Returns the alerts for the parts of the fleet's cost and token budget that an event has nearly
/// used up.
///
/// The time of a fleet is not the sum of the working times of its members, so it raises no alert.
pub(super) fn fleet_budget_alerts(
    event: &FleetEvent,
    budget: &Budget,
    before: &BudgetUsage,
    after: &BudgetUsage,
) -> Vec<Alert> {
    let budget = Budget {
        time: None,
        ..*budget
    };
    let known = budget.nearly_spent(before);
    let nearly = budget.nearly_spent(after).into_iter();
    let new = nearly.filter(|kind| !known.contains(kind));
    new.map(|kind| {
        let message = format!(
            "80 % of the {kind} budget of the fleet {} is spent",
            event.fleet
        );
        Alert::new("budget_nearly_spent", Severity::Warning, message, event.at)
            .detail("fleet", event.fleet.as_str())
            .detail("budget", kind.to_string())
    })
    .collect()
}

/// Derives log lines and alerts from the work of a member.
#[derive(Debug, Default)]
pub(super) struct MemberMessages {
    /// Whether the last turn left the agent stuck, and nothing was changed since.
    is_stuck: bool,
    iteration: u32,
}

impl MemberMessages {
    /// Returns the log line of an event and the alert that it raises.
    pub(super) fn render(
        &mut self,
        event: &WorkEvent,
        now: Timestamp,
    ) -> (Option<String>, Option<Alert>) {
        let was_stuck = self.is_stuck;
        self.follow(event);
        let line = event.log_line();
        let alert = self.alert_of(event, was_stuck, now);
        (line, alert.map(|alert| alert.iteration(self.iteration)))
    }

    fn follow(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::TaskStarted { .. } => *self = Self::default(),
            WorkEvent::IterationStarted {
                iteration,
                branch: None,
                ..
            } => self.iteration = *iteration,
            WorkEvent::IterationEnded { stuck, .. } => self.is_stuck = stuck.is_stuck(),
            WorkEvent::NotStarted { .. } => self.is_stuck = true,
            WorkEvent::Recovered { .. } => self.is_stuck = false,
            _ => {}
        }
    }

    fn alert_of(&self, event: &WorkEvent, was_stuck: bool, now: Timestamp) -> Option<Alert> {
        let new_alert =
            |kind: &str, severity, message: String| Alert::new(kind, severity, message, now);
        let alert = match event {
            WorkEvent::IterationEnded { task, stuck, .. } => {
                let reasons: Vec<_> = stuck.reasons.iter().map(ToString::to_string).collect();
                let reasons = reasons.join("; ");
                let (kind, severity) = match stuck.level {
                    StuckLevel::Fine => return None,
                    StuckLevel::Warning => ("no_progress", Severity::Warning),
                    StuckLevel::Stuck => ("stuck", Severity::Warning),
                    StuckLevel::Critical => ("runaway", Severity::Critical),
                };
                new_alert(kind, severity, format!("{task}: {reasons}"))
                    .detail("task", task.as_str())
            }
            WorkEvent::Recovered {
                task,
                strategy,
                step,
                ..
            } => {
                let alert = match &step.change {
                    RecoveryChange::Ask { question } => {
                        new_alert("needs_person", Severity::Warning, question.clone())
                    }
                    _ => {
                        let message = format!("{task}: {}", step.description);
                        new_alert("stuck_recovery", Severity::Info, message)
                    }
                };
                alert
                    .detail("task", task.as_str())
                    .detail("strategy", strategy.as_str())
                    .detail("step", step.label.as_str())
            }
            WorkEvent::Waiting { task, until } => {
                let message = format!("{task}: the quota of its backend is spent until {until}");
                new_alert("quota_wait", Severity::Info, message).detail("task", task.as_str())
            }
            WorkEvent::Ended {
                task,
                success: true,
                iterations,
                ..
            } => new_alert(
                "task_done",
                Severity::Success,
                match iterations {
                    1 => format!("{task} is done after one iteration"),
                    _ => format!("{task} is done after {iterations} iterations"),
                },
            )
            .detail("task", task.as_str()),
            WorkEvent::Ended { task, reason, .. } => {
                // Stuck, with no recovery left: a person must look at it.
                let (kind, severity) = if was_stuck {
                    ("recovery_exhausted", Severity::Critical)
                } else {
                    ("task_failed", Severity::Error)
                };
                let message = format!("{task} failed: {reason}");
                new_alert(kind, severity, message).detail("task", task.as_str())
            }
            _ => return None,
        };
        Some(alert)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::CostUsd;
    use autonoe_core::agent::{CostTotal, TokenUsage};

    use super::*;
    use crate::budget::Spending;
    use crate::coordinate::CutShort;
    use crate::executor::{ExecutionOutcome, TaskId, Verification};
    use crate::progress::ProgressSignal;
    use crate::recovery::{RecoveryAttempt, RecoveryStep};
    use crate::strategy::MemberReport;
    use crate::stuck::StuckReport;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn task() -> TaskId {
        "T-1".parse().expect("an id")
    }

    fn iteration(level: StuckLevel) -> WorkEvent {
        WorkEvent::IterationEnded {
            task: task(),
            iteration: 1,
            branch: None,
            at: AT,
            cli: "codex".to_owned(),
            model: None,
            end: ExecutionOutcome::Completed,
            conversation: None,
            verification: Verification::failed("it does not exist"),
            score: 0.0,
            stuck: StuckReport {
                level,
                reasons: Vec::new(),
            },
            denied: 0,
            messages: Vec::new(),
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            duration_ms: 1,
            signal: ProgressSignal::default(),
            output: String::new(),
            checks: Spending::default(),
            interrupted: false,
            result: None,
        }
    }

    fn recovered(change: RecoveryChange) -> WorkEvent {
        WorkEvent::Recovered {
            task: task(),
            iteration: 1,
            strategy: "s".to_owned(),
            step: RecoveryStep::new("label", "description", change),
            skipped: Vec::new(),
            attempt: RecoveryAttempt::default(),
        }
    }

    fn ended(success: bool) -> WorkEvent {
        WorkEvent::Ended {
            task: task(),
            at: AT,
            success,
            reason: "r".to_owned(),
            iterations: 1,
        }
    }

    fn kind(alert: &Alert) -> (&str, Severity) {
        (&alert.kind, alert.severity)
    }

    #[test]
    fn each_event_of_a_member_raises_its_alert_with_its_severity() {
        let (question, goal) = ("Which one?".to_owned(), "Another.".to_owned());
        let not_started = WorkEvent::NotStarted {
            task: task(),
            iteration: 1,
            branch: None,
            reason: "r".to_owned(),
        };
        let started = WorkEvent::TaskStarted {
            task: task(),
            at: AT,
        };
        let waiting = WorkEvent::Waiting {
            task: task(),
            until: AT,
        };
        let stuck = || iteration(StuckLevel::Stuck);
        for (before, event, expected) in [
            (None, started, None),
            (None, iteration(StuckLevel::Fine), None),
            (
                None,
                iteration(StuckLevel::Warning),
                Some(("no_progress", Severity::Warning)),
            ),
            (None, stuck(), Some(("stuck", Severity::Warning))),
            (
                None,
                iteration(StuckLevel::Critical),
                Some(("runaway", Severity::Critical)),
            ),
            (
                None,
                recovered(RecoveryChange::Ask { question }),
                Some(("needs_person", Severity::Warning)),
            ),
            (
                None,
                recovered(RecoveryChange::Prompt { goal }),
                Some(("stuck_recovery", Severity::Info)),
            ),
            (None, waiting, Some(("quota_wait", Severity::Info))),
            (None, ended(true), Some(("task_done", Severity::Success))),
            (None, ended(false), Some(("task_failed", Severity::Error))),
            (
                Some(stuck()),
                ended(false),
                Some(("recovery_exhausted", Severity::Critical)),
            ),
            (
                Some(not_started),
                ended(false),
                Some(("recovery_exhausted", Severity::Critical)),
            ),
        ] {
            let mut messages = MemberMessages::default();
            if let Some(before) = before {
                messages.render(&before, AT);
            }

            let (_, alert) = messages.render(&event, AT);

            assert_eq!(alert.as_ref().map(kind), expected, "{event:?}");
        }
    }

    #[test]
    fn each_event_of_a_fleet_raises_its_alert_with_its_severity() {
        let id = || MemberId::new("a");
        let end = |result| FleetEventKind::Ended { result };
        let finished = |success| FleetEventKind::Finished {
            success,
            winner: None,
        };
        let waits = FleetEventKind::WaitsForBudget {
            member: id(),
            reason: "r".to_owned(),
        };
        let cut_short = FleetEventKind::CutShort {
            reason: CutShort::TimedOut,
        };
        for (event, expected) in [
            (FleetEventKind::Paused, None),
            (waits, Some(("waits_for_budget", Severity::Warning))),
            (cut_short, Some(("cut_short", Severity::Warning))),
            (end(MemberReport::success(id(), "done")), None),
            (
                end(MemberReport::failure(id(), "it broke")),
                Some(("member_failed", Severity::Error)),
            ),
            (finished(true), Some(("finished", Severity::Success))),
            (finished(false), Some(("failed", Severity::Error))),
        ] {
            let event = fleet_event(event);

            let alert = fleet_alert(&event, &[]);

            assert_eq!(alert.as_ref().map(kind), expected, "{event:?}");
        }
    }

    #[test]
    fn a_budget_of_a_fleet_that_is_nearly_spent_raises_one_warning() {
        let budget = Budget {
            cost_usd: Some(CostUsd::from_cents(100)),
            ..Budget::default()
        };
        let spent = |cents| BudgetUsage {
            cost: CostTotal::known(CostUsd::from_cents(cents)),
            ..BudgetUsage::default()
        };
        let event = fleet_event(FleetEventKind::Resumed);
        let expected = ("budget_nearly_spent", Severity::Warning);
        for (before, after, expected) in [
            (0, 79, None),
            (79, 80, Some(expected)),
            (80, 90, None),
            (79, 100, None),
        ] {
            let alerts = fleet_budget_alerts(&event, &budget, &spent(before), &spent(after));

            let kinds: Vec<_> = alerts.iter().map(kind).collect();
            assert_eq!(kinds, Vec::from_iter(expected), "{before} {after}");
        }
    }

    fn fleet_event(kind: FleetEventKind) -> FleetEvent {
        FleetEvent {
            fleet: "f".to_owned(),
            at: AT,
            kind,
        }
    }
}
