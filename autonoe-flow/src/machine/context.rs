//! [`RuntimeContext`]: the state that a flow carries from one iteration to the next.

use autonoe_core::time::AgentSessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::action::StepAttempt;
use super::fact::{Answer, Expense};
use super::failure::FlowFailure;

/// The state that a flow carries from one iteration to the next.
///
/// The number of summaries always equals the number of iterations, because only one function ends
/// an iteration and changes both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuntimeContext {
    session_id: Option<AgentSessionId>,
    summaries: Vec<IterationSummary>,
    carry: ContextCarry,
}

/// Summary of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IterationSummary {
    /// Its number, counted from 1.
    pub iteration: u64,
    /// The attempt of the step.
    #[serde(flatten)]
    pub at: StepAttempt,
    /// The failure of the agent, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FlowFailure>,
    /// Cost and tokens.
    pub spent: Expense,
}

/// Values that the next iteration receives from the previous ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ContextCarry {
    /// The text of the previous answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_response: Option<String>,
    /// The outputs of the steps so far, by name. A later output replaces an earlier one.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub accumulated_context: Map<String, Value>,
}

impl RuntimeContext {
    /// Returns the conversation that the next prompt continues; `None` starts a new one.
    pub fn session_id(&self) -> Option<&AgentSessionId> {
        self.session_id.as_ref()
    }

    /// Returns the number of iterations.
    pub fn iteration(&self) -> u64 {
        self.summaries.len() as u64
    }

    /// Returns the summaries of the iterations, in order.
    pub fn summaries(&self) -> &[IterationSummary] {
        &self.summaries
    }

    /// Returns the values that the next iteration receives from the previous ones.
    pub fn carry(&self) -> &ContextCarry {
        &self.carry
    }

    /// Ends an iteration.
    pub(super) fn end_iteration(
        &mut self,
        at: StepAttempt,
        result: Result<&Answer, &FlowFailure>,
        spent: Expense,
    ) {
        match result {
            Ok(answer) => {
                self.session_id.clone_from(&answer.agent_session);
                self.carry.previous_response = Some(answer.text.clone());
                let outputs = answer.outputs.clone();
                self.carry.accumulated_context.extend(outputs);
            }
            // The conversation itself may cause the failure.
            Err(_) => self.session_id = None,
        }
        self.summaries.push(IterationSummary {
            iteration: self.iteration() + 1,
            at,
            failure: result.err().cloned(),
            spent,
        });
    }

    /// Makes the next prompt start a new conversation.
    pub(super) fn reset_session(&mut self) {
        self.session_id = None;
    }
}
