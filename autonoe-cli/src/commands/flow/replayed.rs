//! A flow that is in the journal, replayed to where it is.

use autonoe_core::FlowStart;
use autonoe_core::jiff::Timestamp;
use autonoe_flow::{
    FlowAction, FlowEnd, FlowFact, FlowMachine, ParameterValues, StepId, ValidatedFlow, Variables,
    fingerprint,
};
use serde_json::Value;

/// Where a flow is that is written down.
#[derive(Debug)]
pub(in crate::commands) struct Replayed(FlowMachine);

/// Why a flow that is written down is not the one at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Differs {
    /// Its definition was another one.
    Definition,
    /// Its parameters were others.
    Parameters,
}

impl Replayed {
    /// Begins with a flow that began with `start`, if that is `flow` with these `values`.
    pub(in crate::commands) fn begin(
        start: &FlowStart,
        flow: &ValidatedFlow,
        values: &ParameterValues,
    ) -> Result<Self, Differs> {
        let own = fingerprint(flow.definition()).map_err(|_| Differs::Definition)?;
        if start.definition != own {
            return Err(Differs::Definition);
        }
        let given = serde_json::to_value(values).map_err(|_| Differs::Parameters)?;
        if start.parameters != given {
            return Err(Differs::Parameters);
        }
        Ok(Self(FlowMachine::new(flow, values)))
    }

    /// Takes note of a fact, and returns what came next.
    pub(in crate::commands) fn apply(&mut self, fact: FlowFact) -> FlowAction {
        self.0.apply(fact)
    }

    /// Takes note of facts as the journal has them, up to one that cannot be understood.
    pub(super) fn apply_all(&mut self, facts: &[Value]) {
        let facts = facts.iter();
        for fact in facts.map_while(|fact| serde_json::from_value(fact.clone()).ok()) {
            let _ = self.apply(fact);
        }
    }

    /// Returns the step that comes next, with the variables of its prompt if that comes; `None` if
    /// the flow has not come to any.
    pub(super) fn next_step(mut self) -> Option<(StepId, Option<Variables>)> {
        let mut action = self.0.action();
        if let FlowAction::Finish(FlowEnd::Stopped { failure }) = &action {
            let step = failure.step.clone();
            let at = Timestamp::UNIX_EPOCH;
            action = match self.apply(FlowFact::Resumed { at }) {
                // Its budget is still spent.
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
            FlowAction::AskCompletion(order) => (order.step, None),
            FlowAction::Notify(order) => (order.step, None),
            _ => return None,
        })
    }
}
