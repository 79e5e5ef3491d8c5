//! The way from step to step.

use autonoe_core::BudgetKind;

use super::data::StepRecord;
use super::frame::{Frame, Role, Settled, Stage};
use super::{Doing, FlowAction, FlowFailure, FlowMachine, StepTry, Then};
use crate::definition::{Check, DEFAULT_MAX_RETRIES, Step, StepId, Target};
use crate::error::FlowErrorKind;
use crate::prompt::Variables;

impl FlowMachine {
    /// Goes to a step, or to the end; gateways on the way lead on by the data.
    pub(super) fn go_to(&mut self, target: Target) -> FlowAction {
        let mut target = target;
        loop {
            let id = match target {
                Target::End => return self.arrive_at_end(),
                Target::Step(id) => id,
            };
            let row = match &self.row {
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
                // A sub-step is a part of its parent, and nothing else.
                Some(Step::SubStep(_)) | None => return self.unknown_step(&id),
            };
            let visit = match self.count_visit(&id) {
                Ok(visit) => visit,
                Err(failure) => return self.fail(failure),
            };
            self.row = Some((id.clone(), row));
            if !is_gateway {
                self.frames = vec![Frame::new(id, visit, Role::Visit)];
                return self.advance();
            }
            match self.branch(&id, visit) {
                Some(next) => target = next,
                None => return self.unknown_step(&id),
            }
        }
    }

    /// Runs a step for one that failed for good. It breaks a row of visits.
    pub(super) fn call(&mut self, id: StepId, role: Role) -> FlowAction {
        if !matches!(self.registry.step(&id), Some(Step::Normal(_))) {
            return self.unknown_step(&id);
        }
        match self.count_visit(&id) {
            Ok(visit) => {
                self.row = None;
                self.frames = vec![Frame::new(id, visit, role)];
                self.advance()
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// Goes on with what comes next in the step that is being run.
    pub(super) fn advance(&mut self) -> FlowAction {
        loop {
            let Some((frame, work)) = self.top() else {
                return FlowAction::Continue;
            };
            match frame.stage {
                Stage::Prompt if work.prompt.is_some() => {
                    if frame.variables.is_none() {
                        let variables = self.prompt_variables(frame, work);
                        self.keep_variables(variables);
                    }
                    return self.begin(Doing::Prompting);
                }
                Stage::Prompt => self.set_stage(Stage::Part(0)),
                Stage::Part(number) => match work.sub_steps.get(number).cloned() {
                    None => self.set_stage(Stage::Check),
                    Some(part) => {
                        if let Err(failure) = self.begin_part(part) {
                            return self.fail(failure);
                        }
                    }
                },
                Stage::Check => match &work.check {
                    None => return self.settle(Settled::Passed),
                    // Only a model costs something.
                    Some(Check::Prompt(_)) => return self.begin(Doing::Checking),
                    Some(_) => {
                        self.doing = Doing::Checking;
                        return self.action();
                    }
                },
            }
        }
    }

    /// Begins a session, if there is something left of the budget.
    fn begin(&mut self, doing: Doing) -> FlowAction {
        let budget = &self.limits.budget;
        // The cost of a lost or interrupted session is unknown. A few of them are acceptable.
        let money_is_a_guess =
            budget.cost_usd.is_some() && self.spent.cost.unknown_parts > DEFAULT_MAX_RETRIES;
        let guessed = money_is_a_guess.then_some(BudgetKind::Cost);
        let spent = budget.exhausted(&self.spent()).or(guessed);
        self.doing = doing;
        match spent {
            Some(budget) => self.budget_spent(budget),
            None => self.action(),
        }
    }

    fn begin_part(&mut self, part: StepId) -> Result<(), FlowFailure> {
        let is_work = self
            .registry
            .step(&part)
            .is_some_and(|it| it.work().is_some());
        if !is_work {
            return Err(no_such_step(&part));
        }
        let place: Vec<usize> = self.frames.iter().filter_map(Frame::part).collect();
        let bottom = self.frames.first_mut();
        let visit = match bottom.is_some_and(|bottom| bottom.parts_begun.insert(place)) {
            true => self.count_visit(&part)?,
            // A new try of what is around it is no visit of that, and so none of its parts.
            false => self.steps.get(&part).map_or(1, |record| record.visits),
        };
        self.frames.push(Frame::new(part, visit, Role::Part));
        Ok(())
    }

    fn keep_variables(&mut self, variables: Variables) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables = Some(variables);
        }
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        if let Some(frame) = self.frames.last_mut() {
            frame.stage = stage;
        }
    }

    /// Counts a visit, or says why there must be no more.
    fn count_visit(&mut self, id: &StepId) -> Result<u32, FlowFailure> {
        let most = self.registry.limits.max_visits;
        let record = self.steps.entry(id.clone()).or_default();
        if record.visits >= most {
            return Err(too_often(id, &format!("{most} times in all")));
        }
        record.visits += 1;
        Ok(record.visits)
    }

    /// Returns where the data lead from a gateway.
    fn branch(&mut self, id: &StepId, visit: u32) -> Option<Target> {
        // What is below belongs to the step before.
        self.frames.clear();
        let at = StepTry {
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
            return self.ended_incomplete("no prompt was sent");
        }
        if !self.has_answer() {
            return self.ended_incomplete("the agent has not answered once");
        }
        self.progress.note_end();
        self.ask(Then::End)
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
            format!("the flow came to `{id}`, which is no step that can be gone to"),
        )
    }
}

fn too_often(id: &StepId, times: &str) -> FlowFailure {
    FlowFailure {
        step: Some(id.clone()),
        ..FlowFailure::new(
            FlowErrorKind::StepLoopLimit,
            format!("the step `{id}` was visited {times}, and may not be visited once more"),
        )
    }
}
