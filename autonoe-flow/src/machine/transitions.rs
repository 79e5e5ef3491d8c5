//! Transitions from step to step.

use autonoe_core::agent::BudgetKind;

use super::context::StepRecord;
use super::{
    AfterCompletion, AttemptOutcome, FlowAction, FlowFailure, FlowMachine, Frame, FrameRole,
    MachineState, StepAttempt, StepStage,
};
use crate::definition::{Check, DEFAULT_MAX_RETRIES, Step, StepId, Target};
use crate::error::FlowErrorKind;
use crate::prompt::Variables;

impl FlowMachine {
    /// Continues at a step or at the end. Gateways on the way select their targets by the data.
    pub(super) fn go_to(&mut self, target: Target) -> FlowAction {
        let mut target = target;
        loop {
            let id = match target {
                Target::End => return self.arrive_at_end(),
                Target::Step(id) => id,
            };
            let row = match &self.consecutive_visits {
                Some((last, row)) if *last == id => row.saturating_add(1),
                _ => 1,
            };
            if row > self.registry.limits.step_loop {
                let times = self.registry.limits.step_loop;
                return self.visited_too_often(&id, &format!("{times} times in a row"));
            }
            let is_gateway = match self.registry.step(&id) {
                Some(Step::Gateway(_)) => true,
                Some(Step::Normal(_)) => false,
                // A sub-step is not a valid target of a transition.
                Some(Step::SubStep(_)) | None => return self.unknown_step(&id),
            };
            let visit = match self.count_visit(&id) {
                Ok(visit) => visit,
                Err(failure) => return self.fail(failure),
            };
            self.consecutive_visits = Some((id.clone(), row));
            if !is_gateway {
                self.frames = vec![Frame::new(id, visit, FrameRole::Visit)];
                return self.advance();
            }
            match self.branch(&id, visit) {
                Some(next) => target = next,
                None => return self.unknown_step(&id),
            }
        }
    }

    /// Runs a step for the escalation of another one. It resets the count of consecutive visits.
    pub(super) fn call(&mut self, id: StepId, role: FrameRole) -> FlowAction {
        if !matches!(self.registry.step(&id), Some(Step::Normal(_))) {
            return self.unknown_step(&id);
        }
        match self.count_visit(&id) {
            Ok(visit) => {
                self.consecutive_visits = None;
                self.frames = vec![Frame::new(id, visit, role)];
                self.advance()
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// Continues with the next part of the current step.
    pub(super) fn advance(&mut self) -> FlowAction {
        loop {
            let Some((frame, work)) = self.top() else {
                return FlowAction::Continue;
            };
            match frame.stage {
                StepStage::Prompt if work.prompt.is_some() => {
                    if frame.variables.is_none() {
                        let variables = self.prompt_variables(frame, work);
                        self.set_variables(variables);
                    }
                    return self.start_session(MachineState::Prompting);
                }
                StepStage::Prompt => self.set_stage(StepStage::Part(0)),
                StepStage::Part(number) => match work.sub_steps.get(number).cloned() {
                    None => self.set_stage(StepStage::Check),
                    Some(part) => {
                        if let Err(failure) = self.start_part(part) {
                            return self.fail(failure);
                        }
                    }
                },
                StepStage::Check => match &work.check {
                    None => return self.settle(AttemptOutcome::Passed),
                    // Only a model uses the budget.
                    Some(Check::Prompt(_)) => return self.start_session(MachineState::Checking),
                    Some(_) => {
                        self.state = MachineState::Checking;
                        return self.action();
                    }
                },
            }
        }
    }

    /// Starts a session, if the budget is not exhausted.
    fn start_session(&mut self, doing: MachineState) -> FlowAction {
        let budget = &self.limits.budget;
        // The cost of a lost or interrupted session is unknown. A few of them are acceptable.
        let money_is_a_guess =
            budget.cost_usd.is_some() && self.spent.cost.unknown_parts > DEFAULT_MAX_RETRIES;
        let guessed = money_is_a_guess.then_some(BudgetKind::Cost);
        let spent = budget.exhausted(&self.spent()).or(guessed);
        self.state = doing;
        match spent {
            Some(budget) => self.budget_spent(budget),
            None => self.action(),
        }
    }

    fn start_part(&mut self, part: StepId) -> Result<(), FlowFailure> {
        if self.registry.work(&part).is_none() {
            return Err(no_such_step(&part));
        }
        let place: Vec<usize> = self.frames.iter().filter_map(Frame::part).collect();
        let bottom = self.frames.first_mut();
        let visit = if bottom.is_some_and(|bottom| bottom.started_parts.insert(place)) {
            self.count_visit(&part)?
        } else {
            // A retry of an enclosing step is not a visit, so its sub-steps are not visited again
            // either.
            self.steps.get(&part).map_or(1, |record| record.visits)
        };
        self.frames.push(Frame::new(part, visit, FrameRole::Part));
        Ok(())
    }

    fn set_variables(&mut self, variables: Variables) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables = Some(variables);
        }
    }

    pub(super) fn set_stage(&mut self, stage: StepStage) {
        if let Some(frame) = self.frames.last_mut() {
            frame.stage = stage;
        }
    }

    /// Counts a visit, or returns an error if the limit is reached.
    fn count_visit(&mut self, id: &StepId) -> Result<u32, FlowFailure> {
        let most = self.registry.limits.max_visits;
        let record = self.steps.entry(id.clone()).or_default();
        if record.visits >= most {
            return Err(too_often(id, &format!("{most} times in total")));
        }
        record.visits += 1;
        Ok(record.visits)
    }

    /// Returns the target that a gateway selects by the data.
    fn branch(&mut self, id: &StepId, visit: u32) -> Option<Target> {
        // The frames belong to the previous step.
        self.frames.clear();
        let at = StepAttempt {
            step: id.clone(),
            visit,
            retry: 0,
        };
        let context = self.context_of(&at, self.context.iteration());
        let data = self.source().with_context(&context);
        let Some(Step::Gateway(gateway)) = self.registry.step(id) else {
            return None;
        };
        let next = gateway.choose(&data).cloned();
        let record: &mut StepRecord = self.steps.entry(id.clone()).or_default();
        record.passed = Some(next.is_some());
        next
    }

    fn arrive_at_end(&mut self) -> FlowAction {
        self.frames.clear();
        if self.context.iteration() == 0 {
            return self.ended_incomplete("it sent no prompt");
        }
        if !self.has_answer() {
            return self.ended_incomplete("the agent never answered");
        }
        self.progress.at_end = true;
        self.check_completion(AfterCompletion::End)
    }

    fn unknown_step(&mut self, id: &StepId) -> FlowAction {
        self.frames.clear();
        self.fail(no_such_step(id))
    }

    fn visited_too_often(&mut self, id: &StepId, times: &str) -> FlowAction {
        self.frames.clear();
        self.fail(too_often(id, times))
    }
}

fn no_such_step(id: &StepId) -> FlowFailure {
    FlowFailure {
        step: Some(id.clone()),
        ..FlowFailure::new(
            FlowErrorKind::UnknownStep,
            format!(
                "the flow cannot continue with `{id}`, because it is not a normal step or a \
                 gateway"
            ),
        )
    }
}

fn too_often(id: &StepId, times: &str) -> FlowFailure {
    FlowFailure {
        step: Some(id.clone()),
        ..FlowFailure::new(
            FlowErrorKind::StepLoopLimit,
            format!("the step `{id}` was visited {times}, which is the limit"),
        )
    }
}
