//! [`FlowMachine::apply`]: the transition of each fact.

use autonoe_core::OnQuota;
use jiff::Timestamp;

use super::fact::{Answer, FlowFact, PromptOutcome, SessionUsage};
use super::{
    AfterCompletion, AttemptOutcome, FlowAction, FlowFailure, FlowMachine, FlowWait, MachineState,
    StepStage,
};
use crate::check::CheckVerdict;
use crate::definition::Target;
use crate::error::FlowErrorKind;

impl FlowMachine {
    /// Applies `fact` and returns the next action.
    #[must_use = "the flow does not continue until the action is performed"]
    pub fn apply(&mut self, fact: FlowFact) -> FlowAction {
        let is_over = match self.state {
            MachineState::Finished(_) => true,
            MachineState::Stopped { .. } => !matches!(
                fact,
                FlowFact::Resumed { .. } | FlowFact::LimitsChanged { .. }
            ),
            MachineState::Nothing
            | MachineState::Prompting
            | MachineState::Checking
            | MachineState::Completing(_)
            | MachineState::PendingNotification(_)
            | MachineState::Waiting { .. } => false,
        };
        if is_over {
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
            } => {
                if !self.is_prompting(iteration) {
                    return FlowAction::Continue;
                }
                self.note_time(at);
                self.spent.merge(spent);
                self.prompted(outcome, spent)
            }
            FlowFact::ConversationLost {
                at,
                iteration,
                spent,
                ..
            } => {
                if !self.is_prompting(iteration) || self.context.session_id().is_none() {
                    return FlowAction::Continue;
                }
                self.note_time(at);
                self.spent.merge(spent);
                self.context.reset_session();
                if self.cancelled {
                    self.interrupted()
                } else {
                    self.advance()
                }
            }
            FlowFact::Checked { at, verdict, spent } => {
                if self.state != MachineState::Checking {
                    return FlowAction::Continue;
                }
                self.note_time(at);
                self.spent.merge(spent);
                self.checked(verdict)
            }
            FlowFact::CheckLimited {
                at,
                resets_at,
                spent,
            } => {
                if self.state != MachineState::Checking {
                    return FlowAction::Continue;
                }
                self.note_time(at);
                self.spent.merge(spent);
                if self.cancelled {
                    return self.interrupted();
                }
                match self.limits.on_quota {
                    // The check is repeated when the flow is resumed.
                    OnQuota::Stop if !self.has_other_path() => self.fail(quota_spent()),
                    OnQuota::Stop | OnQuota::Wait => self.rate_limited(resets_at),
                }
            }
            FlowFact::CompletionChecked { at, verdict } => {
                let MachineState::Completing(query) = &self.state else {
                    return FlowAction::Continue;
                };
                let query = query.clone();
                self.note_time(at);
                self.completion_checked(verdict, query)
            }
            FlowFact::Notified { at, result } => {
                let MachineState::PendingNotification(notifying) = &self.state else {
                    return FlowAction::Continue;
                };
                let notifying = notifying.clone();
                self.note_time(at);
                self.notified(result, notifying)
            }
            FlowFact::WaitOver { at } => self.wait_over(at),
            FlowFact::LimitsChanged { limits } => {
                self.limits = limits;
                self.action()
            }
            FlowFact::Lost { spent } => {
                if self.is_working() {
                    match spent {
                        Some(spent) => self.spent.merge(spent),
                        // The session may have cost something, and the cost will never be known.
                        None if self.has_active_session() => self.spent.cost.add(None),
                        None => {}
                    }
                    // The prompt or check has ended, as the cancellation requested.
                    self.cancelled = false;
                }
                self.action()
            }
            FlowFact::Cancelled { at } => {
                self.note_time(at);
                self.cancelled = true;
                if self.is_working() {
                    FlowAction::Stop
                } else {
                    self.interrupted()
                }
            }
            FlowFact::Failed { at, failure } => {
                self.note_time(at);
                self.fail(failure)
            }
            FlowFact::Resumed { at } => self.resumed(at),
        }
    }

    /// Returns whether the prompt of `iteration` is in progress. Results of other prompts are late.
    fn is_prompting(&self, iteration: u64) -> bool {
        self.state == MachineState::Prompting && iteration == self.context.iteration() + 1
    }

    /// Advances the time. It never goes back, even if a clock does.
    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
    }

    fn prompted(&mut self, outcome: PromptOutcome, spent: SessionUsage) -> FlowAction {
        let rate_limits = std::mem::take(&mut self.rate_limits_in_a_row);
        match outcome {
            PromptOutcome::Answered(answer) => {
                self.state = MachineState::Nothing;
                self.answered(&answer, spent)
            }
            // The failure may be a consequence of the cancellation.
            PromptOutcome::Failed { .. } | PromptOutcome::RateLimited { .. } if self.cancelled => {
                self.interrupted()
            }
            PromptOutcome::Failed { failure } => {
                self.state = MachineState::Nothing;
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

    fn answered(&mut self, answer: &Answer, spent: SessionUsage) -> FlowAction {
        self.end_iteration(Ok(answer), spent);
        self.progress.record_text(&self.keywords, &answer.text);
        self.progress.signals.extend(answer.signals.iter().cloned());
        for frame in &mut self.frames {
            frame.add_answer(answer);
        }
        let Some(frame) = self.frames.last_mut() else {
            return FlowAction::Continue;
        };
        frame.stage = StepStage::Part(0);
        let step = frame.at.step.clone();
        let record = self.steps.entry(step).or_default();
        record.outputs.extend(answer.outputs.clone());
        // The checks of this step and of enclosing steps come first.
        let has_sub_steps = self
            .top()
            .is_some_and(|(_, work)| !work.sub_steps.is_empty());
        let action = if has_sub_steps && !self.has_pending_check(self.frames.len()) {
            self.check_completion(AfterCompletion::ContinueStep)
        } else {
            self.advance()
        };
        if self.cancelled {
            return self.interrupted();
        }
        if self.limits.budget.cost_usd.is_some() && spent.cost.exact().is_none() {
            return self.fail(FlowFailure::new(
                FlowErrorKind::BudgetExceeded,
                "the agent did not report its cost, so the cost budget cannot be enforced",
            ));
        }
        action
    }

    fn end_iteration(&mut self, result: Result<&Answer, &FlowFailure>, spent: SessionUsage) {
        if let Some(frame) = self.frames.last() {
            self.last_step = frame.at.step.clone();
            self.context.end_iteration(frame.at.clone(), result, spent);
            self.progress.iterations += 1;
            self.has_new_progress = true;
        }
    }

    fn rate_limited(&mut self, resets_at: Option<Timestamp>) -> FlowAction {
        self.state = MachineState::Nothing;
        self.rate_limits_in_a_row = self.rate_limits_in_a_row.saturating_add(1);
        match self.limits.on_quota {
            OnQuota::Stop => self.step_failed(quota_spent()),
            OnQuota::Wait => {
                let stops = self.rate_limits_in_a_row;
                let backoff = self.limits.quota_backoff;
                let until = backoff.next_try(self.now, resets_at, stops);
                let reason = if Some(until) == resets_at {
                    FlowWait::RateLimit
                } else {
                    FlowWait::RateLimitBackoff
                };
                self.wait(reason, until, MachineState::Nothing)
            }
        }
    }

    fn checked(&mut self, verdict: Result<CheckVerdict, FlowFailure>) -> FlowAction {
        self.rate_limits_in_a_row = 0;
        let verdict = match verdict {
            Ok(verdict) => verdict,
            // The failure may be a consequence of the cancellation.
            Err(_) if self.cancelled => return self.interrupted(),
            // The check is repeated when the flow is resumed.
            Err(failure) if failure.is_resumable() => return self.fail(failure),
            Err(failure) => {
                self.state = MachineState::Nothing;
                return self.step_failed(failure);
            }
        };
        self.state = MachineState::Nothing;
        self.progress.checks += 1;
        self.has_new_progress = true;
        let action = self.settle(match verdict {
            CheckVerdict { passed: true, .. } => AttemptOutcome::Passed,
            CheckVerdict { reason, .. } => {
                let message = match reason {
                    Some(reason) => format!("the check did not pass: {reason}"),
                    None => "the check did not pass".to_owned(),
                };
                AttemptOutcome::Failed(FlowFailure::new(FlowErrorKind::StepFailed, message))
            }
        });
        if self.cancelled {
            self.interrupted()
        } else {
            action
        }
    }

    /// Fails the step, or ends the flow at once if no retry can help.
    fn step_failed(&mut self, failure: FlowFailure) -> FlowAction {
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.with_location(self.context.iteration(), step);
        if failure.is_recoverable() {
            self.settle(AttemptOutcome::Failed(failure))
        } else {
            self.fail(failure)
        }
    }
}

fn quota_spent() -> FlowFailure {
    FlowFailure::new(
        FlowErrorKind::SdkRateLimit,
        "the quota of the agent's vendor is spent",
    )
}
