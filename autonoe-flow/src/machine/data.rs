//! The data of a flow, and the variables that prompts get of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use super::FlowMachine;
use super::action::StepTry;
use super::frame::Role;
use crate::definition::{StepId, VariableName, VariableValue, WorkStep};
use crate::parameters::ParameterValue;
use crate::prompt::Variables;

/// What is known of a step that was visited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StepRecord {
    /// Whether it passed when it was visited last; `None` until the first visit ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// How often it was visited.
    pub visits: u32,
    /// The outputs that it set.
    pub outputs: Map<String, Value>,
}

/// The parts of the data that a whole flow has.
pub(super) struct DataSource<'a> {
    pub(super) parameters: &'a Map<String, Value>,
    pub(super) steps: &'a BTreeMap<StepId, StepRecord>,
}

impl DataSource<'_> {
    /// Returns the data with `context`, as gateways and variables read them.
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
    /// Returns the data of the flow as they are now: `parameters`, `steps` and `context`.
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

    /// Returns what the flow itself knows at a try of a step.
    pub(super) fn context_of(&self, at: &StepTry, iteration: u64) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("flow".to_owned(), self.flow.as_str().into());
        context.insert("step".to_owned(), at.step.as_str().into());
        context.insert("iteration".to_owned(), iteration.into());
        context.insert("visit".to_owned(), at.visit.into());
        context.insert("retry".to_owned(), at.retry.into());
        // Blank before the first answer: a prompt that names it is fine in every step.
        context.insert(
            "previous_response".to_owned(),
            self.previous_response().into(),
        );
        let bottom = self.frames.first().map(|frame| &frame.role);
        if let Some(Role::Called(call)) = bottom {
            context.insert("failure".to_owned(), call.failure.told().into());
        }
        context
    }

    /// Returns the variables of a prompt: those of the step, then outputs, then parameters, then context.
    pub(super) fn variables(&self, work: &WorkStep, context: &Map<String, Value>) -> Variables {
        let data = self.source().with_context(context);
        let mut variables = Variables::new();
        let outputs = &self.context.carry().accumulated_context;
        // The first that sets a name wins, so they are put in from the last.
        for values in [context, &self.parameters, outputs] {
            for (name, value) in values {
                set(&mut variables, name, value);
            }
        }
        for (name, value) in &work.variables {
            let text = match value {
                VariableValue::Text(text) => Some(text.clone()),
                VariableValue::Bool(truth) => Some(truth.to_string()),
                VariableValue::Number(number) => Some(number_as_written(number)),
                VariableValue::Data(data_path) => data_path.from.find(&data).and_then(written),
            };
            match text {
                Some(text) => drop(variables.insert(name.clone(), text)),
                // What stands elsewhere under this name is not what the step means.
                None => drop(variables.remove(name)),
            }
        }
        variables
    }
}

fn set(variables: &mut Variables, name: &str, value: &Value) {
    if let (Ok(name), Some(text)) = (name.parse::<VariableName>(), written(value)) {
        variables.insert(name, text);
    }
}

/// Returns a value as a prompt shows it: a text as it is, a list of texts with commas, a number as
/// parameters are spelled, the rest as JSON.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", "))
        }
        Value::Number(number) => Some(number_as_written(number)),
        other => Some(other.to_string()),
    }
}

/// Writes a number as the value of a parameter is written: `4` and not `4.0`.
fn number_as_written(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => ParameterValue::Number(float).to_string(),
        None => number.to_string(),
    }
}
