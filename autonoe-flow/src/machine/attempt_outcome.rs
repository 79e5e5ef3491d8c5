//! Transitions after the outcome of an attempt: retry, next step, fallback or escalation.

use super::fact::later;
use super::{
    AfterCompletion, AttemptOutcome, EscalationCall, FlowAction, FlowFailure, FlowMachine,
    FlowWait, Frame, FrameRole, MachineState, PendingNotification, StepStage,
};
use crate::definition::{
    AfterFailure, NotificationMethod, ReturnFlow, StepEscalation, StepPlan, Target, WorkStep,
};
use crate::error::FlowErrorKind;

impl FlowMachine {
    /// Handles the outcome of an attempt. The completion check comes first, unless an enclosing
    /// step still has its own check ahead, or the check of the step has no verdict and the flow has
    /// another path.
    pub(super) fn settle(&mut self, settled: AttemptOutcome) -> FlowAction {
        if settled == AttemptOutcome::Passed {
            let phase = self.top().and_then(|(_, work)| work.phase.clone());
            if let Some(phase) = phase {
                self.has_new_progress |= self.progress.phases.insert(phase);
            }
        }
        let around = self.frames.len().saturating_sub(1);
        let is_postponed = self.has_pending_check(around)
            || (self.lacks_verdict(&settled) && self.has_other_path());
        if self.has_new_progress && self.has_answer() && !is_postponed {
            self.check_completion(AfterCompletion::Settle(settled))
        } else {
            self.settled(settled)
        }
    }

    /// Returns whether the current step has a check and failed without its verdict. A sub-step that
    /// fails its parent counts as a verdict.
    fn lacks_verdict(&self, settled: &AttemptOutcome) -> bool {
        let has_check = self.top().is_some_and(|(_, work)| work.check.is_some());
        match settled {
            AttemptOutcome::Failed(failure) => {
                has_check && failure.kind != FlowErrorKind::StepFailed
            }
            AttemptOutcome::Passed => false,
        }
    }

    /// Returns whether one of the `outer` outermost steps in progress has a check. Such a check
    /// runs after the sub-steps and before the completion check.
    pub(super) fn has_pending_check(&self, outer: usize) -> bool {
        let frames = self.frames.iter().take(outer);
        let mut works = frames.filter_map(|frame| self.registry.work(&frame.at.step));
        works.any(|work| work.check.is_some())
    }

    /// Continues after the outcome of an attempt.
    pub(super) fn settled(&mut self, settled: AttemptOutcome) -> FlowAction {
        let Some(plan) = self.top().map(|(_, work)| work.plan()) else {
            return FlowAction::Continue;
        };
        match settled {
            AttemptOutcome::Failed(failure) => match self.retry_step(&plan) {
                Some(retry) if failure.is_agent_failure() => {
                    let wait = plan.backoff.wait(retry).max(failure.retry_after());
                    self.wait(
                        FlowWait::Retry,
                        later(self.now, wait),
                        MachineState::Nothing,
                    )
                }
                Some(_) => self.advance(),
                // The step stays in progress, so that it is retried when the flow is resumed.
                None if failure.root().kind == FlowErrorKind::SdkRateLimit
                    && !self.has_other_path() =>
                {
                    self.fail(failure.root().clone())
                }
                None => match self.leave(false) {
                    Some(frame) => self.retries_exhausted(&frame, plan, failure),
                    None => FlowAction::Continue,
                },
            },
            AttemptOutcome::Passed => match self.leave(true) {
                Some(frame) => self.done(&frame, plan),
                None => FlowAction::Continue,
            },
        }
    }

    /// Returns whether a retry or another step follows if the current attempt fails.
    ///
    /// An external escalation runs no other step, and one that aborts ends the flow for good.
    pub(super) fn has_other_path(&self) -> bool {
        for frame in self.frames.iter().rev() {
            let Some(plan) = self.registry.work(&frame.at.step).map(WorkStep::plan) else {
                return false;
            };
            let has_retries = frame.at.retry < plan.max_retries;
            match (&frame.role, plan.after_failure) {
                _ if has_retries => return true,
                (_, AfterFailure::Skip) => return true,
                (FrameRole::Part, _) => {}
                (FrameRole::Called(_), _) | (FrameRole::Visit, AfterFailure::Error) => {
                    return false;
                }
                (FrameRole::Visit, AfterFailure::Goto(_)) => return true,
                (FrameRole::Visit, AfterFailure::Escalate(escalation)) => {
                    return escalation.notification_method == NotificationMethod::InAgent
                        && escalation.return_flow != ReturnFlow::Abort;
                }
            }
        }
        false
    }

    /// Starts a new attempt and returns its number; `None` if no retries are left.
    fn retry_step(&mut self, plan: &StepPlan) -> Option<u32> {
        let frame = self.frames.last_mut()?;
        (frame.at.retry < plan.max_retries).then(|| {
            frame.start_retry();
            frame.at.retry
        })
    }

    /// Ends the visit of the current step.
    fn leave(&mut self, passed: bool) -> Option<Frame> {
        let frame = self.frames.pop()?;
        let record = self.steps.entry(frame.at.step.clone()).or_default();
        record.passed = Some(passed);
        Some(frame)
    }

    /// Continues after a step that has passed or is skipped.
    fn done(&mut self, frame: &Frame, plan: StepPlan) -> FlowAction {
        match &frame.role {
            FrameRole::Visit => match plan.on_pass {
                Some(target) => self.go_to(target),
                None => self.fail(FlowFailure::new(
                    FlowErrorKind::UnknownStep,
                    format!("the step `{}` has no next step", frame.at.step),
                )),
            },
            FrameRole::Part => {
                if let Some(StepStage::Part(number)) = self.frames.last().map(|parent| parent.stage)
                {
                    self.set_stage(StepStage::Part(number + 1));
                }
                self.advance()
            }
            FrameRole::Called(call) => self.return_from_escalation(call.clone()),
        }
    }

    /// Performs the action after a failure without further retries.
    fn retries_exhausted(
        &mut self,
        frame: &Frame,
        plan: StepPlan,
        cause: FlowFailure,
    ) -> FlowAction {
        let step = &frame.at.step;
        let message = match frame.at.retry {
            0 => format!("the step `{step}` failed"),
            1 => format!("the step `{step}` failed, also after 1 retry"),
            times => {
                format!("the step `{step}` failed, also after {times} retries")
            }
        };
        let failure = FlowFailure::new(FlowErrorKind::StepFailed, message)
            .with_cause(cause)
            .with_location(self.context.iteration(), Some(step));
        match (&frame.role, plan.after_failure.clone()) {
            (_, AfterFailure::Skip) => self.done(frame, plan),
            (FrameRole::Part, _) => self.settle(AttemptOutcome::Failed(failure)),
            (FrameRole::Called(_), _) | (FrameRole::Visit, AfterFailure::Error) => {
                self.fail(failure)
            }
            (FrameRole::Visit, AfterFailure::Goto(target)) => self.go_to(target),
            (FrameRole::Visit, AfterFailure::Escalate(escalation)) => {
                let call = EscalationCall {
                    by: step.clone(),
                    visit: frame.at.visit,
                    at: self.now,
                    failure,
                    then: escalation.return_flow,
                };
                self.escalate(call, escalation)
            }
        }
    }

    fn escalate(&mut self, call: EscalationCall, escalation: StepEscalation) -> FlowAction {
        if escalation.notification_method != NotificationMethod::InAgent {
            self.state = MachineState::PendingNotification(PendingNotification {
                call,
                escalation,
                retry: 0,
            });
            return self.action();
        }
        match escalation.escalate_to.parse() {
            Ok(step) => self.call(step, FrameRole::Called(call)),
            Err(_) => self.fail(FlowFailure::new(
                FlowErrorKind::UnknownStep,
                format!(
                    "the step `{}` to escalate to does not exist",
                    escalation.escalate_to
                ),
            )),
        }
    }

    /// Continues after a notification. An undelivered one is retried as often as the failed step.
    pub(super) fn notified(
        &mut self,
        result: Result<(), FlowFailure>,
        notifying: PendingNotification,
    ) -> FlowAction {
        self.state = MachineState::Nothing;
        let plan = self.registry.work(&notifying.call.by).map(WorkStep::plan);
        let plan = plan.filter(|plan| notifying.retry < plan.max_retries);
        match (result, plan) {
            (Ok(()), _) => self.return_from_escalation(notifying.call),
            (Err(failure), Some(plan)) if failure.is_recoverable() => {
                let retry = notifying.retry.saturating_add(1);
                let until = later(self.now, plan.backoff.wait(retry));
                let retried = PendingNotification { retry, ..notifying };
                self.wait(
                    FlowWait::Notification,
                    until,
                    MachineState::PendingNotification(retried),
                )
            }
            // The receiver does not know about the failure that it should handle.
            (Err(failure), _) => {
                let call = &notifying.call;
                let message = format!(
                    "{failure}; this was the escalation of the failed step `{}`",
                    call.by
                );
                let failure =
                    FlowFailure::new(failure.kind, message).with_cause(call.failure.clone());
                // A stopped flow sends the notification again when it is resumed.
                self.state = MachineState::PendingNotification(PendingNotification {
                    retry: 0,
                    ..notifying
                });
                self.fail(failure)
            }
        }
    }

    /// Continues after an escalation.
    fn return_from_escalation(&mut self, call: EscalationCall) -> FlowAction {
        match call.then {
            ReturnFlow::Resume => self.go_to(Target::Step(call.by)),
            ReturnFlow::Restart => {
                self.context.reset_session();
                self.go_to(Target::Step(self.registry.entry_step.clone()))
            }
            ReturnFlow::Abort => {
                let message = format!(
                    "the step `{}` failed, and its escalation ends the flow",
                    call.by
                );
                let failure = FlowFailure {
                    step: Some(call.by),
                    ..FlowFailure::new(FlowErrorKind::Escalated, message)
                };
                self.fail(failure.with_cause(call.failure))
            }
        }
    }
}
