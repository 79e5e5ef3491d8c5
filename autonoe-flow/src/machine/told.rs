//! What each fact means.

use autonoe_core::OnQuota;
use jiff::Timestamp;

use super::fact::{Answer, CheckVerdict, Expense, FlowFact, PromptOutcome};
use super::frame::{Settled, Stage};
use super::{Doing, FlowAction, FlowFailure, FlowMachine, FlowWait, Then};
use crate::definition::Target;
use crate::error::FlowErrorKind;
use crate::progress::Watched;

impl FlowMachine {
    /// Takes notice of `fact` and says what is to be done.
    #[must_use = "the flow stands still until the action is carried out"]
    pub fn apply(&mut self, fact: FlowFact) -> FlowAction {
        match (&self.doing, &fact) {
            (Doing::Finished(_), _) => return self.action(),
            (Doing::Stopped { .. }, FlowFact::Resumed { .. } | FlowFact::LimitsChanged { .. }) => {}
            (Doing::Stopped { .. }, _) => return self.action(),
            _ => {}
        }
        match fact {
            FlowFact::Started { at, limits } if self.started_at.is_none() => {
                self.limits = limits;
                self.started_at = Some(at);
                self.now = at;
                self.go_to(Target::Step(self.registry.entry_step.clone()))
            }
            FlowFact::Started { .. } => FlowAction::Continue,
            FlowFact::Prompted {
                at,
                iteration,
                outcome,
                spent,
            } => match self.doing {
                Doing::Prompting if iteration == self.context.iteration() + 1 => {
                    self.note_time(at);
                    self.spent.merge(spent);
                    self.prompted(outcome, spent)
                }
                _ => FlowAction::Continue,
            },
            FlowFact::Checked { at, verdict, spent } => match self.doing {
                Doing::Checking => {
                    self.note_time(at);
                    self.spent.merge(spent);
                    self.checked(verdict)
                }
                _ => FlowAction::Continue,
            },
            FlowFact::CheckLimited {
                at,
                resets_at,
                spent,
            } => match self.doing {
                Doing::Checking => {
                    self.note_time(at);
                    self.spent.merge(spent);
                    match self.limits.on_quota {
                        _ if self.cancelled => self.interrupted(),
                        // The step is not run again for a check that has no verdict.
                        OnQuota::Stop => self.fail(quota_spent()),
                        OnQuota::Wait => self.rate_limited(resets_at),
                    }
                }
                _ => FlowAction::Continue,
            },
            FlowFact::CompletionChecked { at, verdict } => match &self.doing {
                Doing::Completing(asked) => {
                    let asked = asked.clone();
                    self.note_time(at);
                    self.completion_checked(verdict, asked)
                }
                _ => FlowAction::Continue,
            },
            FlowFact::Notified { at, result } => match &self.doing {
                Doing::PendingNotification(notifying) => {
                    let notifying = notifying.clone();
                    self.note_time(at);
                    self.notified(result, notifying)
                }
                _ => FlowAction::Continue,
            },
            FlowFact::WaitOver { at } => self.wait_over(at),
            FlowFact::LimitsChanged { limits } => {
                self.limits = limits;
                self.action()
            }
            FlowFact::Lost { spent } => {
                if self.is_at_work() {
                    match spent {
                        Some(spent) => self.spent.merge(spent),
                        // It may have cost something; nobody will ever know what.
                        None if self.has_session_under_way() => self.spent.cost.add(None),
                        None => {}
                    }
                    // Whoever wanted it stopped has got that.
                    self.cancelled = false;
                }
                self.action()
            }
            FlowFact::Cancelled { at } => {
                self.note_time(at);
                self.cancelled = true;
                match self.is_at_work() {
                    true => FlowAction::Stop,
                    false => self.interrupted(),
                }
            }
            FlowFact::Failed { at, failure } => {
                self.note_time(at);
                self.fail(failure)
            }
            FlowFact::Resumed { at } => self.resumed(at),
        }
    }

    /// Time does not go back, whatever a clock says.
    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
    }

    fn prompted(&mut self, outcome: PromptOutcome, spent: Expense) -> FlowAction {
        let rate_limits = std::mem::take(&mut self.rate_limits_in_a_row);
        match outcome {
            PromptOutcome::Answered(answer) => {
                self.doing = Doing::Nothing;
                self.answered(&answer, spent)
            }
            // It may have failed because it was stopped.
            PromptOutcome::Failed { .. } | PromptOutcome::RateLimited { .. } if self.cancelled => {
                self.interrupted()
            }
            PromptOutcome::Failed { failure } => {
                self.doing = Doing::Nothing;
                self.end_iteration(Err(&failure), spent);
                self.step_failed(failure)
            }
            PromptOutcome::RateLimited { resets_at } => {
                self.rate_limits_in_a_row = rate_limits;
                self.rate_limited(resets_at)
            }
            PromptOutcome::BudgetSpent { budget } => self.budget_spent(budget),
            PromptOutcome::Cancelled => self.interrupted(),
        }
    }

    fn answered(&mut self, answer: &Answer, spent: Expense) -> FlowAction {
        self.end_iteration(Ok(answer), spent);
        self.progress
            .note_text(&Watched::words(self.keywords.clone()), &answer.text);
        self.progress.note_signals(answer.signals.iter().cloned());
        for frame in &mut self.frames {
            frame.note(answer);
        }
        let Some(frame) = self.frames.last_mut() else {
            return FlowAction::Continue;
        };
        frame.stage = Stage::Part(0);
        let step = frame.at.step.clone();
        let record = self.steps.entry(step).or_default();
        record.outputs.extend(answer.outputs.clone());
        // The checks of this step and of those around it come first.
        let has_sub_steps = self
            .top()
            .is_some_and(|(_, work)| !work.sub_steps.is_empty());
        let action = match has_sub_steps && !self.has_pending_check(self.frames.len()) {
            true => self.ask(Then::GoOn),
            false => self.advance(),
        };
        if self.cancelled {
            return self.interrupted();
        }
        if self.limits.budget.cost_usd.is_some() && spent.cost.exact().is_none() {
            return self.fail(FlowFailure::new(
                FlowErrorKind::BudgetExceeded,
                "the agent did not tell what it cost, so the money budget cannot be kept",
            ));
        }
        action
    }

    fn end_iteration(&mut self, result: Result<&Answer, &FlowFailure>, spent: Expense) {
        if let Some(frame) = self.frames.last() {
            self.last_step = frame.at.step.clone();
            self.context.end_iteration(frame.at.clone(), result, spent);
            self.progress.note_iteration();
            self.unasked = true;
        }
    }

    fn rate_limited(&mut self, resets_at: Option<Timestamp>) -> FlowAction {
        self.doing = Doing::Nothing;
        self.rate_limits_in_a_row = self.rate_limits_in_a_row.saturating_add(1);
        match self.limits.on_quota {
            OnQuota::Stop => self.step_failed(quota_spent()),
            OnQuota::Wait => {
                let stops = self.rate_limits_in_a_row;
                let backoff = self.limits.quota_backoff;
                let until = backoff.next_try(self.now, resets_at, stops);
                let reason = match Some(until) == resets_at {
                    true => FlowWait::RateLimit,
                    false => FlowWait::RateLimitBackoff,
                };
                self.wait(reason, until, Doing::Nothing)
            }
        }
    }

    fn checked(&mut self, verdict: Result<CheckVerdict, FlowFailure>) -> FlowAction {
        self.rate_limits_in_a_row = 0;
        let verdict = match verdict {
            Ok(verdict) => verdict,
            // It may have failed because it was stopped.
            Err(_) if self.cancelled => return self.interrupted(),
            // The check comes again when the flow is resumed.
            Err(failure) if failure.is_resumable() => return self.fail(failure),
            Err(failure) => {
                self.doing = Doing::Nothing;
                return self.step_failed(failure);
            }
        };
        self.doing = Doing::Nothing;
        self.progress.note_check();
        self.unasked = true;
        let action = self.settle(match verdict {
            CheckVerdict { passed: true, .. } => Settled::Passed,
            CheckVerdict { reason, .. } => {
                let message = match reason {
                    Some(reason) => format!("the check did not pass: {reason}"),
                    None => "the check did not pass".to_owned(),
                };
                Settled::Failed(FlowFailure::new(FlowErrorKind::StepFailed, message))
            }
        });
        match self.cancelled {
            true => self.interrupted(),
            false => action,
        }
    }

    /// Fails the step, or ends the flow at once if no new try can help.
    fn step_failed(&mut self, failure: FlowFailure) -> FlowAction {
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.at(self.context.iteration(), step);
        match failure.is_recoverable() {
            true => self.settle(Settled::Failed(failure)),
            false => self.fail(failure),
        }
    }
}

fn quota_spent() -> FlowFailure {
    FlowFailure::new(
        FlowErrorKind::SdkRateLimit,
        "the quota of the service behind the agent is spent",
    )
}
