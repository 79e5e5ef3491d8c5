//! What an agent can tell a flow, other than in prose.

mod set_outputs;
mod signal;

use std::sync::Arc;

use autonoe_core::{Tool, ToolError, ToolErrorCode};
use serde_json::{Map, Value};

pub use self::signal::{Collected, IterationSlot};
pub use autonoe_core::{VERDICT, VerdictSlot, verdict_tool};

use self::set_outputs::SetOutputs;
use self::signal::GiveSignal;
use crate::definition::VariableName;
use crate::progress::Watched;

/// The name of the tool by which an agent sets the outputs of a step.
pub const SET_OUTPUTS: &str = "set_outputs";
/// The name of the tool by which an agent gives a structured signal.
pub const SIGNAL: &str = "signal";

/// The most that one call may say, in bytes of JSON. It is journaled and stands in prompts.
const LONGEST: usize = 64 * 1024;

/// Returns the tools of one iteration: `set_outputs` if the step has outputs, `signal` if the
/// flow waits for signals. What they are told is in `slot`.
///
/// ```
/// use autonoe_flow::{IterationSlot, SET_OUTPUTS, Watched, iteration_tools};
///
/// let slot = IterationSlot::default();
/// let tools = iteration_tools(&["verdict".parse()?], &Watched::default(), &slot);
///
/// let names: Vec<&str> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, [SET_OUTPUTS]);
/// # Ok::<(), autonoe_flow::InvalidName>(())
/// ```
pub fn iteration_tools(
    outputs: &[VariableName],
    watched: &Watched,
    slot: &IterationSlot,
) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if !outputs.is_empty() {
        tools.push(Arc::new(SetOutputs::new(outputs, slot)));
    }
    if !watched.signals.is_empty() {
        tools.push(Arc::new(GiveSignal::new(&watched.signals, slot)));
    }
    tools
}

fn refused(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}

/// Takes the fields of an input of at most [`LONGEST`] bytes.
fn fields(tool: &str, input: Value) -> Result<Map<String, Value>, ToolError> {
    let length = input.to_string().len();
    if length > LONGEST {
        let message = format!(
            "{tool} takes at most {LONGEST} bytes, and these are {length}: write to a file and name it here"
        );
        return Err(refused(message));
    }
    match input {
        Value::Object(fields) => Ok(fields),
        _ => Err(refused(format!("{tool} takes an object"))),
    }
}
