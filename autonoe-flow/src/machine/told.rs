//! What each fact means.

use autonoe_core::{BudgetKind, OnQuota};
use jiff::Timestamp;

use super::fact::{Answer, CheckVerdict, CompletionVerdict, Expense, FlowFact, PromptOutcome};
use super::frame::{Settled, Stage};
use super::limits::later;
use super::{Asked, Doing, FlowAction, FlowEnd, FlowFailure, FlowMachine, FlowWait, Then};
use crate::definition::Target;
use crate::error::FlowErrorKind;
use crate::progress::Watched;

impl FlowMachine {
    /// Takes notice of `fact` and says what is to be done.
    #[must_use = "the flow stands still until the action is carried out"]
    pub fn apply(&mut self, fact: FlowFact) -> FlowAction {
        if let Doing::Finished(_) = self.doing {
            return self.action();
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
                    self.doing = Doing::Nothing;
                    match self.cancelled {
                        true => self.interrupted(),
                        false => self.rate_limited(resets_at),
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
                Doing::Notifying { call, .. } => {
                    let call = call.clone();
                    self.note_time(at);
                    self.notified(result, call)
                }
                _ => FlowAction::Continue,
            },
            FlowFact::WaitOver { at } => self.wait_over(at),
            FlowFact::LimitsChanged { limits } => {
                self.limits = limits;
                self.action()
            }
            FlowFact::Lost => {
                if self.has_session_under_way() {
                    // It may have cost something; nobody will ever know what.
                    self.spent.cost.add(None);
                    // Whoever wanted it stopped has got that.
                    self.cancelled = false;
                }
                self.action()
            }
            FlowFact::Cancelled => {
                self.cancelled = true;
                match self.has_session_under_way() {
                    true => FlowAction::Stop,
                    false => self.interrupted(),
                }
            }
            FlowFact::Failed { failure } => self.fail(failure),
        }
    }

    /// Time does not go back, whatever a clock says.
    fn note_time(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
    }

    fn prompted(&mut self, outcome: PromptOutcome, spent: Expense) -> FlowAction {
        self.doing = Doing::Nothing;
        let rate_limits = std::mem::take(&mut self.rate_limits_in_a_row);
        match outcome {
            PromptOutcome::Answered(answer) => self.answered(&answer, spent),
            PromptOutcome::Failed { failure } => {
                self.end_iteration(Err(&failure), spent);
                self.step_failed(failure)
            }
            PromptOutcome::RateLimited { .. } if self.cancelled => self.interrupted(),
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
        if self.cancelled {
            return self.interrupted();
        }
        if self.limits.budget.cost_usd.is_some() && spent.cost.exact().is_none() {
            return self.fail(FlowFailure::new(
                FlowErrorKind::BudgetExceeded,
                "the agent did not tell what it cost, so the money budget cannot be kept",
            ));
        }
        // Words reach the check of a step first, and the completion after.
        match self
            .top()
            .is_some_and(|(_, work)| !work.sub_steps.is_empty())
        {
            true => self.ask(Then::GoOn),
            false => self.advance(),
        }
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
        self.rate_limits_in_a_row = self.rate_limits_in_a_row.saturating_add(1);
        match self.limits.on_quota {
            OnQuota::Stop => self.fail(FlowFailure::new(
                FlowErrorKind::SdkRateLimit,
                "the service behind the agent asks to wait, and the flow is not to wait",
            )),
            OnQuota::Wait => {
                let stops = self.rate_limits_in_a_row;
                let backoff = self.limits.quota_backoff;
                let until = backoff.next_try(self.now, resets_at, stops);
                let reason = match Some(until) == resets_at {
                    true => FlowWait::RateLimit,
                    false => FlowWait::RateLimitBackoff,
                };
                self.wait(reason, until, None)
            }
        }
    }

    fn checked(&mut self, verdict: Result<CheckVerdict, FlowFailure>) -> FlowAction {
        self.doing = Doing::Nothing;
        self.rate_limits_in_a_row = 0;
        self.progress.note_check();
        self.unasked = true;
        if self.cancelled {
            return self.interrupted();
        }
        match verdict {
            Ok(CheckVerdict { passed: true, .. }) => self.settle(Settled::Passed),
            Ok(CheckVerdict { reason, .. }) => {
                let message = match reason {
                    Some(reason) => format!("the check did not pass: {reason}"),
                    None => "the check did not pass".to_owned(),
                };
                self.settle(Settled::Failed(FlowFailure::new(
                    FlowErrorKind::StepFailed,
                    message,
                )))
            }
            Err(failure) => self.step_failed(failure),
        }
    }

    /// What a new try cannot mend ends the flow at once; the rest fails the step.
    fn step_failed(&mut self, failure: FlowFailure) -> FlowAction {
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.at(self.context.iteration(), step);
        if self.cancelled {
            return self.interrupted();
        }
        match failure.is_recoverable() {
            true => self.settle(Settled::Failed(failure)),
            false => self.fail(failure),
        }
    }

    fn completion_checked(
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
                    (None, Then::End) => self.ended_incomplete("the flow is not complete"),
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
                self.wait(FlowWait::Completion, until, Some(asked))
            }
            None => self.fail(failure),
        }
    }

    fn wait_over(&mut self, at: Timestamp) -> FlowAction {
        match &self.doing {
            Doing::Waiting { until, .. } if at < *until => self.action(),
            Doing::Waiting { asked, .. } => {
                let asked = asked.clone();
                self.note_time(at);
                match asked {
                    Some(asked) => {
                        self.doing = Doing::Completing(asked);
                        self.action()
                    }
                    None => self.advance(),
                }
            }
            _ => FlowAction::Continue,
        }
    }

    /// Begins to wait, unless the time of the flow is up by then.
    pub(super) fn wait(
        &mut self,
        reason: FlowWait,
        until: Timestamp,
        asked: Option<Asked>,
    ) -> FlowAction {
        if self.deadline().is_some_and(|deadline| until >= deadline) {
            return self.budget_spent(BudgetKind::Time);
        }
        self.doing = Doing::Waiting {
            reason,
            until,
            asked,
        };
        self.action()
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

    fn interrupted(&mut self) -> FlowAction {
        self.fail(FlowFailure::new(
            FlowErrorKind::Interrupted,
            "a person stopped the flow",
        ))
    }

    /// Ends the flow with a failure, which is told with its place.
    pub(super) fn fail(&mut self, failure: FlowFailure) -> FlowAction {
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.at(self.context.iteration(), step);
        self.finish(FlowEnd::Failed { failure })
    }

    fn finish(&mut self, end: FlowEnd) -> FlowAction {
        self.doing = Doing::Finished(end);
        self.action()
    }
}
