//! What follows from the end of a try.

use super::frame::{Call, Frame, Role, Settled, Stage};
use super::limits::later;
use super::{Doing, FlowAction, FlowFailure, FlowMachine, FlowWait, PendingNotification, Then};
use crate::definition::{
    AfterFailure, Escalation, NotificationMethod, ReturnFlow, StepPlan, Target,
};
use crate::error::FlowErrorKind;

impl FlowMachine {
    /// Handles the end of a try. The completion is asked before anything follows from it, unless a step
    /// around this one has its check still ahead.
    pub(super) fn settle(&mut self, settled: Settled) -> FlowAction {
        if settled == Settled::Passed {
            let phase = self.top().and_then(|(_, work)| work.phase.clone());
            if let Some(phase) = phase
                && !self.progress.phases.contains(&phase)
            {
                self.progress.note_phase(&phase);
                self.unasked = true;
            }
        }
        let around = self.frames.len().saturating_sub(1);
        match self.unasked && self.has_answer() && !self.has_pending_check(around) {
            true => self.ask(Then::Settle(settled)),
            false => self.settled(settled),
        }
    }

    /// Tells whether one of the `outer` outermost steps that are being run has a check. It comes after
    /// the sub-steps, and before the completion is asked.
    pub(super) fn has_pending_check(&self, outer: usize) -> bool {
        let outer = self.frames.iter().take(outer);
        let mut works = outer.filter_map(|frame| self.registry.step(&frame.at.step)?.work());
        works.any(|work| work.check.is_some())
    }

    /// Goes on after the end of a try.
    pub(super) fn settled(&mut self, settled: Settled) -> FlowAction {
        let Some(plan) = self.top().map(|(_, work)| work.plan()) else {
            return FlowAction::Continue;
        };
        match settled {
            Settled::Failed(failure) => match self.try_again(&plan) {
                Some(retry) if failure.is_of_the_agent() => {
                    let wait = plan.backoff.wait(retry).max(failure.retry_after());
                    self.wait(FlowWait::Retry, later(self.now, wait), Doing::Nothing)
                }
                Some(_) => self.advance(),
                // The step is left as it is, so that it is tried again when the flow is resumed.
                None if failure.root().kind == FlowErrorKind::SdkRateLimit
                    && self.failure_ends_flow() =>
                {
                    self.fail(failure.root().clone())
                }
                None => match self.leave(false) {
                    Some(frame) => self.exhausted(&frame, plan, failure),
                    None => FlowAction::Continue,
                },
            },
            Settled::Passed => match self.leave(true) {
                Some(frame) => self.done(&frame, plan),
                None => FlowAction::Continue,
            },
        }
    }

    /// Tells whether the flow ends with an error if the step that is being run fails for good.
    fn failure_ends_flow(&self) -> bool {
        let mut is_innermost = true;
        for frame in self.frames.iter().rev() {
            let work = self.registry.step(&frame.at.step).and_then(|it| it.work());
            let Some(plan) = work.map(|work| work.plan()) else {
                return true;
            };
            let is_tried_again = !is_innermost && frame.at.retry < plan.max_retries;
            is_innermost = false;
            match (&frame.role, plan.after_failure) {
                _ if is_tried_again => return false,
                (_, AfterFailure::Skip) => return false,
                (Role::Part, _) => {}
                (Role::Called(_), _) | (Role::Visit, AfterFailure::Error) => return true,
                (Role::Visit, AfterFailure::Goto(_) | AfterFailure::Escalate(_)) => return false,
            }
        }
        true
    }

    /// Begins a new try, and returns its number; `None` if there were enough.
    fn try_again(&mut self, plan: &StepPlan) -> Option<u32> {
        let frame = self.frames.last_mut()?;
        (frame.at.retry < plan.max_retries).then(|| {
            frame.try_again();
            frame.at.retry
        })
    }

    /// Ends the visit of the step that is being run.
    fn leave(&mut self, passed: bool) -> Option<Frame> {
        let frame = self.frames.pop()?;
        let record = self.steps.entry(frame.at.step.clone()).or_default();
        record.passed = Some(passed);
        Some(frame)
    }

    /// Goes on behind a step that passed, or is passed over.
    fn done(&mut self, frame: &Frame, plan: StepPlan) -> FlowAction {
        match &frame.role {
            Role::Visit => match plan.on_pass {
                Some(target) => self.go_to(target),
                None => self.fail(FlowFailure::new(
                    FlowErrorKind::UnknownStep,
                    format!("the step `{}` leads nowhere", frame.at.step),
                )),
            },
            Role::Part => {
                if let Some(Stage::Part(number)) = self.frames.last().map(|parent| parent.stage) {
                    self.set_stage(Stage::Part(number + 1));
                }
                self.advance()
            }
            Role::Called(call) => self.go_back(call.clone()),
        }
    }

    /// Does what comes when a step failed and is not tried again.
    fn exhausted(&mut self, frame: &Frame, plan: StepPlan, cause: FlowFailure) -> FlowAction {
        let step = &frame.at.step;
        let message = match frame.at.retry {
            0 => format!("the step `{step}` failed"),
            1 => format!("the step `{step}` failed, and once more when it was tried again"),
            times => {
                format!("the step `{step}` failed, and {times} times more when it was tried again")
            }
        };
        let failure = FlowFailure::new(FlowErrorKind::StepFailed, message)
            .because(cause)
            .at(self.context.iteration(), Some(step));
        match (&frame.role, plan.after_failure.clone()) {
            (_, AfterFailure::Skip) => self.done(frame, plan),
            (Role::Part, _) => self.settle(Settled::Failed(failure)),
            (Role::Called(_), _) | (Role::Visit, AfterFailure::Error) => self.fail(failure),
            (Role::Visit, AfterFailure::Goto(target)) => self.go_to(target),
            (Role::Visit, AfterFailure::Escalate(escalation)) => {
                let call = Call {
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

    fn escalate(&mut self, call: Call, escalation: Escalation) -> FlowAction {
        if escalation.notification_method != NotificationMethod::InAgent {
            self.doing = Doing::PendingNotification(PendingNotification {
                call,
                escalation,
                retry: 0,
            });
            return self.action();
        }
        match escalation.escalate_to.parse() {
            Ok(step) => self.call(step, Role::Called(call)),
            Err(_) => self.fail(FlowFailure::new(
                FlowErrorKind::UnknownStep,
                format!("`{}` is no step to escalate to", escalation.escalate_to),
            )),
        }
    }

    /// Continues after a notification. One that was not delivered is sent again as often as the step that
    /// failed is tried again.
    pub(super) fn notified(
        &mut self,
        result: Result<(), FlowFailure>,
        notifying: PendingNotification,
    ) -> FlowAction {
        self.doing = Doing::Nothing;
        let step = self.registry.step(&notifying.call.by);
        let plan = step.and_then(|step| step.work()).map(|work| work.plan());
        let plan = plan.filter(|plan| notifying.retry < plan.max_retries);
        match (result, plan) {
            (Ok(()), _) => self.go_back(notifying.call),
            (Err(failure), Some(plan)) if failure.is_recoverable() => {
                let retry = notifying.retry.saturating_add(1);
                let until = later(self.now, plan.backoff.wait(retry));
                let again = PendingNotification { retry, ..notifying };
                self.wait(
                    FlowWait::Notification,
                    until,
                    Doing::PendingNotification(again),
                )
            }
            // The receiver does not know of the failure that it should deal with.
            (Err(failure), _) => {
                let call = notifying.call;
                let message = format!("{failure}; the step `{}` had failed", call.by);
                let failure = FlowFailure::new(failure.kind, message).because(call.failure);
                self.fail(failure)
            }
        }
    }

    /// Goes on after an escalation.
    fn go_back(&mut self, call: Call) -> FlowAction {
        match call.then {
            ReturnFlow::Resume => self.go_to(Target::Step(call.by)),
            ReturnFlow::Restart => {
                self.context.leave_session();
                self.go_to(Target::Step(self.registry.entry_step.clone()))
            }
            ReturnFlow::Abort => {
                let message = format!("the step `{}` was escalated, which ends the flow", call.by);
                let failure = FlowFailure {
                    step: Some(call.by),
                    ..FlowFailure::new(FlowErrorKind::Escalated, message)
                };
                self.fail(failure.because(call.failure))
            }
        }
    }
}
