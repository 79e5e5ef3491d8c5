//! Questions whether the flow is complete, waits, and ends.

use std::collections::BTreeMap;

use autonoe_core::BudgetKind;
use jiff::Timestamp;

use super::fact::CompletionVerdict;
use super::limits::{between, later};
use super::{Asked, Doing, FlowAction, FlowEnd, FlowFailure, FlowMachine, FlowWait, Then};
use crate::error::FlowErrorKind;

impl FlowMachine {
    pub(super) fn completion_checked(
        &mut self,
        verdict: Result<CompletionVerdict, FlowFailure>,
        asked: Asked,
    ) -> FlowAction {
        self.doing = Doing::Nothing;
        match verdict {
            Ok(verdict) => {
                self.states.clone_from(&verdict.states);
                match (verdict.complete, asked.then) {
                    (Some(reason), _) => self.finish(FlowEnd::Complete {
                        reason,
                        states: verdict.states,
                    }),
                    (None, Then::GoOn) => self.advance(),
                    (None, Then::Settle(settled)) => self.settled(settled),
                    (None, Then::End) => self.ended_incomplete(&not_complete(&verdict.states)),
                }
            }
            Err(failure) => self.ask_again(failure, asked),
        }
    }

    /// Asks again as often as the step that was run last would be tried again.
    fn ask_again(&mut self, failure: FlowFailure, asked: Asked) -> FlowAction {
        let step = self.registry.step(&self.last_step);
        let plan = step.and_then(|step| step.work()).map(|work| work.plan());
        match plan.filter(|plan| failure.is_recoverable() && asked.retry < plan.max_retries) {
            Some(plan) => {
                let retry = asked.retry.saturating_add(1);
                let until = later(self.now, plan.backoff.wait(retry));
                let asked = Asked { retry, ..asked };
                self.wait(FlowWait::Completion, until, Doing::Completing(asked))
            }
            None => self.fail(failure),
        }
    }

    pub(super) fn wait_over(&mut self, at: Timestamp) -> FlowAction {
        match &self.doing {
            Doing::Waiting { until, .. } if at < *until => self.action(),
            Doing::Waiting { then, .. } => {
                let then = then.as_ref().clone();
                self.note_time(at);
                self.continue_with(then)
            }
            _ => FlowAction::Continue,
        }
    }

    /// Waits and continues with `then`, unless the time of the flow is up by then.
    pub(super) fn wait(&mut self, reason: FlowWait, until: Timestamp, then: Doing) -> FlowAction {
        self.doing = Doing::Waiting {
            reason,
            until,
            then: Box::new(then),
        };
        match self.deadline().is_some_and(|deadline| until >= deadline) {
            true => self.budget_spent(BudgetKind::Time),
            false => self.action(),
        }
    }

    /// Resumes a flow that has stopped. What was under way comes again.
    pub(super) fn resumed(&mut self, at: Timestamp) -> FlowAction {
        let Doing::Stopped { then, .. } = &self.doing else {
            return FlowAction::Continue;
        };
        let then = then.as_ref().clone();
        let stopped = between(self.now, at);
        self.started_at = self.started_at.map(|started| later(started, stopped));
        self.note_time(at);
        self.cancelled = false;
        self.rate_limits_in_a_row = 0;
        self.doing = Doing::Nothing;
        match self.started_at {
            Some(_) => self.continue_with(then),
            None => FlowAction::Continue,
        }
    }

    /// Continues with what was put off.
    fn continue_with(&mut self, then: Doing) -> FlowAction {
        match then {
            // A session begins only with a budget.
            Doing::Nothing | Doing::Prompting | Doing::Checking => self.advance(),
            Doing::Waiting {
                reason,
                until,
                then,
            } => self.wait(reason, until, *then),
            other => {
                self.doing = other;
                self.action()
            }
        }
    }

    /// Asks whether the flow is complete, if something was reached since it was asked last.
    pub(super) fn ask(&mut self, then: Then) -> FlowAction {
        self.unasked = false;
        self.doing = Doing::Completing(Asked { then, retry: 0 });
        self.action()
    }

    pub(super) fn budget_spent(&mut self, budget: BudgetKind) -> FlowAction {
        self.fail(FlowFailure {
            budget: Some(budget),
            ..FlowFailure::new(
                FlowErrorKind::BudgetExceeded,
                format!("the {budget} budget of the flow is spent"),
            )
        })
    }

    pub(super) fn ended_incomplete(&mut self, what: &str) -> FlowAction {
        self.fail(FlowFailure::new(
            FlowErrorKind::EndedIncomplete,
            format!("the steps have come to their end, and {what}"),
        ))
    }

    pub(super) fn interrupted(&mut self) -> FlowAction {
        self.fail(FlowFailure::new(
            FlowErrorKind::Interrupted,
            "a person stopped the flow",
        ))
    }

    /// Ends the flow with a failure, or stops it where the failure leaves it resumable.
    pub(super) fn fail(&mut self, failure: FlowFailure) -> FlowAction {
        if let Doing::Stopped { .. } | Doing::Finished(_) = self.doing {
            return self.action();
        }
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.at(self.context.iteration(), step);
        if !failure.is_resumable() {
            return self.finish(FlowEnd::Failed { failure });
        }
        let then = Box::new(std::mem::replace(&mut self.doing, Doing::Nothing));
        self.doing = Doing::Stopped { failure, then };
        self.action()
    }

    fn finish(&mut self, end: FlowEnd) -> FlowAction {
        self.doing = Doing::Finished(end);
        self.action()
    }
}

/// Says that a flow is not complete, and which of its conditions do not hold.
fn not_complete(states: &BTreeMap<String, bool>) -> String {
    let missing: Vec<String> = states
        .iter()
        .filter(|(_, holds)| !**holds)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    match missing.is_empty() {
        true => "the flow is not complete".to_owned(),
        false => format!(
            "the flow is not complete: what does not hold is {}",
            missing.join(", ")
        ),
    }
}
