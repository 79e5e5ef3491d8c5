//! Completion checks, waits, and the end of a flow.

use std::collections::BTreeMap;

use autonoe_core::agent::BudgetKind;
use jiff::Timestamp;

use super::fact::CompletionVerdict;
use super::fact::{between, later};
use super::{
    AfterCompletion, CompletionQuery, FlowAction, FlowEnd, FlowFailure, FlowMachine, FlowWait,
    MachineState,
};
use crate::definition::WorkStep;
use crate::definition::quoted;
use crate::error::FlowErrorKind;

impl FlowMachine {
    pub(super) fn completion_checked(
        &mut self,
        verdict: Result<CompletionVerdict, FlowFailure>,
        query: CompletionQuery,
    ) -> FlowAction {
        self.state = MachineState::Nothing;
        match verdict {
            Ok(verdict) => {
                self.states.clone_from(&verdict.states);
                match (verdict.complete, query.then) {
                    (Some(reason), _) => self.finish(FlowEnd::Complete {
                        reason,
                        states: verdict.states,
                    }),
                    (None, AfterCompletion::ContinueStep) => self.advance(),
                    (None, AfterCompletion::Settle(settled)) => self.settled(settled),
                    (None, AfterCompletion::End) => {
                        self.ended_incomplete(&not_complete(&verdict.states))
                    }
                }
            }
            Err(failure) => self.retry_completion(failure, query),
        }
    }

    /// Retries the completion check as often as the last step would be retried.
    fn retry_completion(&mut self, failure: FlowFailure, query: CompletionQuery) -> FlowAction {
        let plan = self.registry.work(&self.last_step).map(WorkStep::plan);
        match plan.filter(|plan| failure.is_recoverable() && query.retry < plan.max_retries) {
            Some(plan) => {
                let retry = query.retry.saturating_add(1);
                let until = later(self.now, plan.backoff.wait(retry));
                let query = CompletionQuery { retry, ..query };
                self.wait(FlowWait::Completion, until, MachineState::Completing(query))
            }
            None => {
                // A stopped flow repeats the check when it is resumed.
                self.state = MachineState::Completing(CompletionQuery { retry: 0, ..query });
                self.fail(failure)
            }
        }
    }

    pub(super) fn wait_over(&mut self, at: Timestamp) -> FlowAction {
        match &self.state {
            MachineState::Waiting { until, .. } if at < *until => self.action(),
            MachineState::Waiting { then, .. } => {
                let then = then.as_ref().clone();
                self.note_time(at);
                self.continue_with(then)
            }
            _ => FlowAction::Continue,
        }
    }

    /// Waits and continues with `then`, unless the deadline of the flow is earlier.
    pub(super) fn wait(
        &mut self,
        reason: FlowWait,
        until: Timestamp,
        then: MachineState,
    ) -> FlowAction {
        self.state = MachineState::Waiting {
            reason,
            until,
            then: Box::new(then),
        };
        if self.deadline().is_some_and(|deadline| until >= deadline) {
            self.budget_spent(BudgetKind::Time)
        } else {
            self.action()
        }
    }

    /// Resumes a stopped flow. The interrupted action is repeated.
    pub(super) fn resumed(&mut self, at: Timestamp) -> FlowAction {
        let MachineState::Stopped { then, .. } = &self.state else {
            return FlowAction::Continue;
        };
        let then = then.as_ref().clone();
        let stopped = between(self.now, at);
        self.started_at = self.started_at.map(|started| later(started, stopped));
        self.note_time(at);
        self.cancelled = false;
        self.rate_limits_in_a_row = 0;
        self.state = MachineState::Nothing;
        match self.started_at {
            Some(_) => self.continue_with(then),
            None => FlowAction::Continue,
        }
    }

    /// Continues with the postponed state.
    fn continue_with(&mut self, then: MachineState) -> FlowAction {
        match then {
            // A session requires a budget, which `advance` checks.
            MachineState::Nothing | MachineState::Prompting | MachineState::Checking => {
                self.advance()
            }
            MachineState::Waiting {
                reason,
                until,
                then,
            } => self.wait(reason, until, *then),
            other => {
                self.state = other;
                self.action()
            }
        }
    }

    /// Starts a completion check.
    pub(super) fn check_completion(&mut self, then: AfterCompletion) -> FlowAction {
        self.has_new_progress = false;
        self.state = MachineState::Completing(CompletionQuery { then, retry: 0 });
        self.action()
    }

    pub(super) fn budget_spent(&mut self, budget: BudgetKind) -> FlowAction {
        self.fail(FlowFailure::budget_spent(budget))
    }

    pub(super) fn ended_incomplete(&mut self, problem: &str) -> FlowAction {
        self.fail(FlowFailure::new(
            FlowErrorKind::EndedIncomplete,
            format!("the flow reached the end of its steps, but {problem}"),
        ))
    }

    pub(super) fn interrupted(&mut self) -> FlowAction {
        self.fail(FlowFailure::cancelled())
    }

    /// Ends the flow with a failure, or stops it if the failure is resumable.
    pub(super) fn fail(&mut self, failure: FlowFailure) -> FlowAction {
        if let MachineState::Stopped { .. } | MachineState::Finished(_) = self.state {
            return self.action();
        }
        let step = self.frames.last().map(|frame| &frame.at.step);
        let failure = failure.with_location(self.context.iteration(), step);
        if !failure.is_resumable() {
            return self.finish(FlowEnd::Failed { failure });
        }
        let then = Box::new(std::mem::replace(&mut self.state, MachineState::Nothing));
        self.state = MachineState::Stopped { failure, then };
        self.action()
    }

    fn finish(&mut self, end: FlowEnd) -> FlowAction {
        self.state = MachineState::Finished(end);
        self.action()
    }
}

/// Describes an incomplete flow with the conditions that do not hold.
fn not_complete(states: &BTreeMap<String, bool>) -> String {
    let missing = states.iter().filter(|(_, holds)| !**holds);
    match quoted(missing.map(|(name, _)| name)).as_str() {
        "" => "the flow is not complete".to_owned(),
        names => format!("the flow is not complete; these conditions do not hold: {names}"),
    }
}
