//! What a flow takes from one iteration to the next.

use autonoe_core::AgentSessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::action::StepTry;
use super::fact::{Answer, Expense};
use super::failure::FlowFailure;

/// What a flow takes from one iteration to the next.
///
/// There are as many summaries as iterations, always: both are made by the one
/// function that ends an iteration. Nobody else changes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuntimeContext {
    session_id: Option<AgentSessionId>,
    summaries: Vec<IterationSummary>,
    carry: ContextCarry,
}

/// What is kept of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IterationSummary {
    /// Its number, from 1.
    pub iteration: u64,
    /// Where the flow was.
    #[serde(flatten)]
    pub at: StepTry,
    /// Why the agent failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FlowFailure>,
    /// What it took.
    pub spent: Expense,
}

/// What the next iteration gets of those before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ContextCarry {
    /// The text of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_response: Option<String>,
    /// The outputs of the steps so far, by name; the last one that was set counts.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub accumulated_context: Map<String, Value>,
}

impl RuntimeContext {
    /// Returns the conversation that the next prompt continues; `None` is a new one.
    pub fn session_id(&self) -> Option<&AgentSessionId> {
        self.session_id.as_ref()
    }

    /// Returns how many iterations there were.
    pub fn iteration(&self) -> u64 {
        self.summaries.len() as u64
    }

    /// Returns what is kept of each iteration, in their order.
    pub fn summaries(&self) -> &[IterationSummary] {
        &self.summaries
    }

    /// Returns what the next iteration gets of those before.
    pub fn carry(&self) -> &ContextCarry {
        &self.carry
    }

    /// Ends an iteration.
    pub(super) fn end_iteration(
        &mut self,
        at: StepTry,
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
            // The conversation itself may be what fails.
            Err(_) => self.session_id = None,
        }
        self.summaries.push(IterationSummary {
            iteration: self.iteration() + 1,
            at,
            failure: result.err().cloned(),
            spent,
        });
    }

    /// Lets the next prompt begin a new conversation.
    pub(super) fn leave_session(&mut self) {
        self.session_id = None;
    }
}
