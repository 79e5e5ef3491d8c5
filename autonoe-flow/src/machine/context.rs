//! [`RuntimeContext`]: the state that a flow carries from one iteration to the next, and the data and
//! variables that are derived from it.

use std::collections::BTreeMap;

use autonoe_core::time::AgentSessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use super::action::StepAttempt;
use super::fact::{Answer, SessionUsage};
use super::failure::FlowFailure;
use super::{FlowMachine, FrameRole};
use crate::definition::{StepId, VariableName, VariableValue, WorkStep};
use crate::parameters::ParameterValue;
use crate::prompt::Variables;

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
    pub spent: SessionUsage,
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
        spent: SessionUsage,
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

/// Record of a visited step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StepRecord {
    /// Whether it passed on its last visit; `None` until the first visit has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// The number of visits.
    pub visits: u32,
    /// The outputs that it set.
    pub outputs: Map<String, Value>,
}

/// The parts of the data that belong to the whole flow.
pub(super) struct DataSource<'a> {
    pub(super) parameters: &'a Map<String, Value>,
    pub(super) steps: &'a BTreeMap<StepId, StepRecord>,
}

impl DataSource<'_> {
    /// Returns the data with `context`, for gateways and variables.
    pub(super) fn with_context(&self, context: &Map<String, Value>) -> Value {
        let steps = self.steps.iter();
        let steps: Map<String, Value> = steps
            .map(|(id, record)| {
                let mut step = json!({"visits": record.visits, "outputs": record.outputs});
                if let Some(passed) = record.passed {
                    step["passed"] = passed.into();
                }
                (id.to_string(), step)
            })
            .collect();
        json!({"parameters": self.parameters, "steps": steps, "context": context})
    }
}

impl FlowMachine {
    /// Returns the current data of the flow: `parameters`, `steps` and `context`.
    pub fn data(&self) -> Value {
        let context = match self.frames.last() {
            Some(frame) => self.context_of(&frame.at, self.context.iteration()),
            None => {
                let mut context = Map::new();
                context.insert("flow".to_owned(), self.flow.as_str().into());
                context.insert("iteration".to_owned(), self.context.iteration().into());
                context
            }
        };
        self.source().with_context(&context)
    }

    pub(super) fn source(&self) -> DataSource<'_> {
        DataSource {
            parameters: &self.parameters,
            steps: &self.steps,
        }
    }

    /// Returns the context values of an attempt.
    pub(super) fn context_of(&self, at: &StepAttempt, iteration: u64) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("flow".to_owned(), self.flow.as_str().into());
        context.insert("step".to_owned(), at.step.as_str().into());
        context.insert("iteration".to_owned(), iteration.into());
        context.insert("visit".to_owned(), at.visit.into());
        context.insert("retry".to_owned(), at.retry.into());
        // Empty before the first answer, so that a prompt of any step may use it.
        context.insert(
            "previous_response".to_owned(),
            self.previous_response().into(),
        );
        let bottom = self.frames.first().map(|frame| &frame.role);
        if let Some(FrameRole::Called(call)) = bottom {
            context.insert(
                "failure".to_owned(),
                call.failure.message_with_causes().into(),
            );
        }
        context
    }

    /// Returns the variables of a prompt. Variables of the step take precedence over outputs, then
    /// parameters, then context.
    pub(super) fn variables(&self, work: &WorkStep, context: &Map<String, Value>) -> Variables {
        let data = self.source().with_context(context);
        let mut variables = Variables::new();
        let outputs = &self.context.carry().accumulated_context;
        // The highest precedence wins, so values are inserted from the lowest to the highest.
        for values in [context, &self.parameters, outputs] {
            for (name, value) in values {
                set(&mut variables, name, value);
            }
        }
        for (name, value) in &work.variables {
            let text = match value {
                VariableValue::Text(text) => Some(text.clone()),
                VariableValue::Bool(truth) => Some(truth.to_string()),
                VariableValue::Number(number) => Some(format_number(number)),
                VariableValue::Data(data_path) => data_path.from.find(&data).and_then(format_value),
            };
            match text {
                Some(text) => drop(variables.insert(name.clone(), text)),
                // A value of the same name from another source is not the one that the step refers
                // to.
                None => drop(variables.remove(name)),
            }
        }
        variables
    }
}

fn set(variables: &mut Variables, name: &str, value: &Value) {
    if let (Ok(name), Some(text)) = (name.parse::<VariableName>(), format_value(value)) {
        variables.insert(name, text);
    }
}

/// Formats a value for a prompt: a string as it is, a list of strings with commas, a number like a
/// parameter, everything else as JSON.
fn format_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", "))
        }
        Value::Number(number) => Some(format_number(number)),
        other => Some(other.to_string()),
    }
}

/// Formats a number like the value of a parameter: `4`, not `4.0`.
fn format_number(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => ParameterValue::Number(float).to_string(),
        None => number.to_string(),
    }
}
