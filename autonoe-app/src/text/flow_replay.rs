//! [`FlowReplay`]: a flow that is replayed from its journal.

use autonoe_core::jiff::Timestamp;
use autonoe_core::session::FlowStart;
use autonoe_flow::prompt::Variables;
use autonoe_flow::run::fingerprint;
use autonoe_flow::{
    FlowAction, FlowEnd, FlowFact, FlowMachine, ParameterValues, StepId, ValidatedFlow,
};
use serde_json::Value;

/// The state of a recorded flow.
#[derive(Debug)]
pub struct FlowReplay(FlowMachine);

/// Difference between a recorded flow and the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMismatch {
    /// It has another definition.
    Definition,
    /// It has other parameters.
    Parameters,
}

impl FlowReplay {
    /// Starts the replay of a flow with `start`, if that is `flow` with these `values`.
    pub fn new(
        start: &FlowStart,
        flow: &ValidatedFlow,
        values: &ParameterValues,
    ) -> Result<Self, FlowMismatch> {
        let own = fingerprint(flow.definition()).map_err(|_| FlowMismatch::Definition)?;
        if start.definition != own {
            return Err(FlowMismatch::Definition);
        }
        let given = serde_json::to_value(values).map_err(|_| FlowMismatch::Parameters)?;
        if start.parameters != given {
            return Err(FlowMismatch::Parameters);
        }
        Ok(Self(FlowMachine::new(flow, values)))
    }

    /// Applies a fact, and returns the action that followed.
    pub fn apply(&mut self, fact: FlowFact) -> FlowAction {
        self.0.apply(fact)
    }

    /// Applies facts of the journal, up to one that cannot be parsed.
    pub fn apply_all(&mut self, facts: &[Value]) {
        let facts = facts.iter();
        for fact in facts.map_while(|fact| serde_json::from_value(fact.clone()).ok()) {
            let _ = self.apply(fact);
        }
    }

    /// Returns the next step, with the variables of its prompt if the prompt is next. `None` if the
    /// flow has not reached any step.
    pub fn next_step(mut self) -> Option<(StepId, Option<Variables>)> {
        let mut action = self.0.action();
        if let FlowAction::Finish(FlowEnd::Stopped { failure }) = &action {
            let step = failure.step.clone();
            let at = Timestamp::UNIX_EPOCH;
            action = match self.apply(FlowFact::Resumed { at }) {
                // The budget is still exhausted.
                FlowAction::Finish(_) => return step.map(|step| (step, None)),
                action => action,
            };
        }
        if let FlowAction::Wait { until, .. } = action {
            action = self.apply(FlowFact::WaitOver { at: until });
        }
        Some(match action {
            FlowAction::Prompt(order) => (order.at.step, Some(order.variables)),
            FlowAction::Check(order) => (order.at.step, None),
            FlowAction::CheckCompletion(order) => (order.step, None),
            FlowAction::Notify(order) => (order.step, None),
            _ => return None,
        })
    }
}
