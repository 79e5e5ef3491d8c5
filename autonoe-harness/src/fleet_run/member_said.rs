//! What is said of the work of a member, to people.

use jiff::Timestamp;

use crate::{Alert, RecoveryChange, Severity, StuckLevel, WorkEvent};

/// What was said of a member so far, as far as it matters for what is said next.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Whether the last turn left the agent stuck, and nothing was changed since.
    is_stuck: bool,
    iteration: u32,
}

impl Said {
    /// Says what happened: in a line, and as an alert where somebody should know.
    pub(super) fn of(
        &mut self,
        event: &WorkEvent,
        now: Timestamp,
    ) -> (Option<String>, Option<Alert>) {
        let was_stuck = self.is_stuck;
        self.follow(event);
        let line = line_of(event);
        let alert = self.alert_of(event, was_stuck, now);
        (line, alert.map(|alert| alert.in_iteration(self.iteration)))
    }

    fn follow(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::Began { .. } => *self = Self::default(),
            WorkEvent::IterationBegan {
                iteration,
                branch: None,
                ..
            } => self.iteration = *iteration,
            WorkEvent::Iterated { stuck, .. } => self.is_stuck = stuck.is_stuck(),
            WorkEvent::NotBegun { .. } => self.is_stuck = true,
            WorkEvent::Recovered { .. } => self.is_stuck = false,
            _ => {}
        }
    }

    fn alert_of(&self, event: &WorkEvent, was_stuck: bool, now: Timestamp) -> Option<Alert> {
        let say = |kind: &str, severity, message: String| Alert::new(kind, severity, message, now);
        let alert = match event {
            WorkEvent::Iterated { task, stuck, .. } => {
                let reasons: Vec<_> = stuck.reasons.iter().map(ToString::to_string).collect();
                let reasons = reasons.join("; ");
                let (kind, severity) = match stuck.level {
                    StuckLevel::Fine => return None,
                    StuckLevel::Warning => ("no_progress", Severity::Warning),
                    StuckLevel::Stuck => ("stuck", Severity::Warning),
                    StuckLevel::Critical => ("runaway", Severity::Critical),
                };
                say(kind, severity, format!("{task}: {reasons}")).with("task", task.as_str())
            }
            WorkEvent::Recovered {
                task,
                strategy,
                step,
                ..
            } => {
                let alert = match &step.change {
                    RecoveryChange::Ask { question } => {
                        say("asks_person", Severity::Warning, question.clone())
                    }
                    _ => {
                        let message = format!("{task}: {}", step.said);
                        say("stuck_recovery", Severity::Info, message)
                    }
                };
                alert
                    .with("task", task.as_str())
                    .with("strategy", strategy.as_str())
                    .with("step", step.label.as_str())
            }
            WorkEvent::Waited { task, until } => {
                let message = format!("{task}: its backend has no quota until {until}");
                say("quota", Severity::Info, message).with("task", task.as_str())
            }
            WorkEvent::Ended {
                task,
                success: true,
                iterations,
                ..
            } => say(
                "task_done",
                Severity::Success,
                match iterations {
                    1 => format!("{task} is done after one iteration"),
                    _ => format!("{task} is done after {iterations} iterations"),
                },
            )
            .with("task", task.as_str()),
            WorkEvent::Ended { task, reason, .. } => {
                // Stuck, and nothing is tried any more: a person has to look.
                let (kind, severity) = match was_stuck {
                    true => ("recovery_exhausted", Severity::Critical),
                    false => ("task_failed", Severity::Error),
                };
                let message = format!("{task} failed: {reason}");
                say(kind, severity, message).with("task", task.as_str())
            }
            _ => return None,
        };
        Some(alert)
    }
}

fn line_of(event: &WorkEvent) -> Option<String> {
    Some(match event {
        WorkEvent::Began { task, .. } => format!("{task} begins"),
        WorkEvent::IterationBegan {
            task,
            iteration,
            branch,
            ..
        } => match branch {
            Some(branch) => format!("{task}: iteration {iteration} on {branch}"),
            None => format!("{task}: iteration {iteration}"),
        },
        WorkEvent::NotBegun { task, reason, .. } => format!("{task}: no turn: {reason}"),
        WorkEvent::Iterated {
            task,
            verification,
            score,
            ..
        } => format!("{task}: {verification}; progress {score:.2}"),
        WorkEvent::Waited { task, until } => format!("{task} waits for its quota until {until}"),
        WorkEvent::Recovered { task, step, .. } => format!("{task}: {}", step.said),
        WorkEvent::Explored {
            task, branch, said, ..
        } => format!("{task}: {branch}: {said}"),
        WorkEvent::Ended {
            task,
            success,
            reason,
            ..
        } => match success {
            true => format!("{task} is done"),
            false => format!("{task} failed: {reason}"),
        },
        WorkEvent::Stopped { task, .. } => format!("{task} is stopped"),
        _ => return None,
    })
}
