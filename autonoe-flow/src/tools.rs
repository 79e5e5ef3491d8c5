//! Tools by which an agent reports outputs and signals to a flow.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

use crate::definition::{StructuredSignal, VariableName};
use crate::progress::AgentSignal;

/// The name of the tool that sets the outputs of a step.
pub const SET_OUTPUTS: &str = "set_outputs";
/// The name of the tool that sends a structured signal.
pub const SIGNAL: &str = "signal";

/// Maximum size of one call's input, in bytes of JSON. Inputs are journaled and inserted into
/// prompts.
const LONGEST: usize = 64 * 1024;

/// Returns the tools of one iteration: `set_outputs` if the step has outputs, `signal` if the flow
/// waits for signals. They store their inputs in `slot`.
///
/// ```
/// use autonoe_flow::run::{IterationSlot, SET_OUTPUTS, iteration_tools};
///
/// let slot = IterationSlot::default();
/// let tools = iteration_tools(&["verdict".parse()?], &[], &slot);
///
/// let names: Vec<&str> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, [SET_OUTPUTS]);
/// # Ok::<(), autonoe_flow::definition::InvalidName>(())
/// ```
pub fn iteration_tools(
    outputs: &[VariableName],
    signals: &[StructuredSignal],
    slot: &IterationSlot,
) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if !outputs.is_empty() {
        tools.push(Arc::new(SetOutputs::new(outputs, slot)));
    }
    if !signals.is_empty() {
        tools.push(Arc::new(SendSignal::new(signals, slot)));
    }
    tools
}

fn refused(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}

/// Returns the fields of an input of at most [`LONGEST`] bytes.
fn fields(tool: &str, input: Value) -> Result<Map<String, Value>, ToolError> {
    let length = input.to_string().len();
    if length > LONGEST {
        let message = format!(
            "{tool} takes at most {LONGEST} bytes, and the input has {length}; write the content \
             to a file and pass its path"
        );
        return Err(refused(message));
    }
    match input {
        Value::Object(fields) => Ok(fields),
        _ => Err(refused(format!("the input of {tool} must be an object"))),
    }
}

/// Sets outputs of a step, and only those that it declares.
struct SetOutputs {
    definition: ToolDefinition,
    declared: Vec<VariableName>,
    slot: IterationSlot,
}

impl SetOutputs {
    fn new(declared: &[VariableName], slot: &IterationSlot) -> Self {
        // Any value except null is allowed: to leave an output unset, omit it.
        let any = json!({"type": ["string", "number", "boolean", "array", "object"]});
        let properties = declared
            .iter()
            .map(|name| (name.to_string(), any.clone()))
            .collect::<Map<_, _>>();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "minProperties": 1,
        });
        let description = "Sets outputs of this step, which later steps read. Set each of them \
                           before you end. Setting an output again replaces its value.";
        Self {
            definition: ToolDefinition::new(SET_OUTPUTS, description, schema),
            declared: declared.to_vec(),
            slot: slot.clone(),
        }
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.declared.iter().map(VariableName::as_str).collect();
        names.join(", ")
    }
}

#[async_trait]
impl Tool for SetOutputs {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let outputs = fields(SET_OUTPUTS, input)?;
        if outputs.is_empty() {
            return Err(refused(format!(
                "set at least one output; known outputs: {}",
                self.names()
            )));
        }
        for (name, value) in &outputs {
            if !self.declared.iter().any(|known| known.as_str() == name) {
                let message = format!("there is no output {name}; known outputs: {}", self.names());
                return Err(refused(message));
            }
            if value.is_null() {
                return Err(refused(format!("the output {name} must not be null")));
            }
        }
        let names: Vec<&str> = outputs.keys().map(String::as_str).collect();
        let title = format!("Set {}", names.join(", "));
        self.slot.lock().outputs.extend(outputs);
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

/// Sends a signal that the flow waits for, and no other.
struct SendSignal {
    definition: ToolDefinition,
    awaited: Vec<StructuredSignal>,
    slot: IterationSlot,
}

impl SendSignal {
    fn new(awaited: &[StructuredSignal], slot: &IterationSlot) -> Self {
        let names: BTreeSet<&str> = awaited.iter().map(|it| it.signal.as_str()).collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": names, "description": "The name of the signal."},
                "fields": {"type": "object", "description": "The content of the signal."},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        let signals: Vec<String> = awaited.iter().map(describe).collect();
        let description = format!(
            "Sends a signal to the flow that you work in. Send it only when it is true. Signals: \
             {}.",
            signals.join("; ")
        );
        Self {
            definition: ToolDefinition::new(SIGNAL, description, schema),
            awaited: awaited.to_vec(),
            slot: slot.clone(),
        }
    }

    /// Returns the problem of a signal that the flow does not wait for.
    fn problem(&self, signal: &AgentSignal) -> Option<String> {
        if self.awaited.iter().any(|awaited| awaited.matches(signal)) {
            return None;
        }
        let mut named = self.awaited.iter().filter(|it| it.signal == signal.name);
        Some(match named.next() {
            Some(awaited) => {
                let missing: Vec<&str> = awaited.missing_in(signal).collect();
                format!(
                    "the signal {} lacks the fields {}",
                    signal.name,
                    missing.join(", ")
                )
            }
            None => {
                let known: Vec<String> = self.awaited.iter().map(describe).collect();
                format!(
                    "there is no signal {}; known signals: {}",
                    signal.name,
                    known.join("; ")
                )
            }
        })
    }
}

fn describe(awaited: &StructuredSignal) -> String {
    match awaited.required_fields.as_slice() {
        [] => awaited.signal.clone(),
        fields => format!("{} with the fields {}", awaited.signal, fields.join(", ")),
    }
}

#[async_trait]
impl Tool for SendSignal {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = Value::Object(fields(SIGNAL, input)?);
        let signal: AgentSignal = serde_json::from_value(input)
            .map_err(|error| refused(format!("invalid input of {SIGNAL}: {error}")))?;
        if let Some(problem) = self.problem(&signal) {
            return Err(refused(problem));
        }
        let title = format!("Signal {}", signal.name);
        self.slot.lock().signals.push(signal);
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

/// Collects the tool inputs of one iteration. Clones share the same content.
#[derive(Clone, Debug, Default)]
pub struct IterationSlot(Arc<Mutex<IterationReport>>);

/// Outputs and signals of one iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationReport {
    /// The outputs of the step, by name. A later value replaces an earlier one.
    pub outputs: Map<String, Value>,
    /// The signals, in order.
    pub signals: Vec<AgentSignal>,
}

impl IterationSlot {
    /// Returns the collected inputs, and leaves the slot empty.
    pub fn take(&self) -> IterationReport {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, IterationReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
