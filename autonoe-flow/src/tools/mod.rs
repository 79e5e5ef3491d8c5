//! Tools by which an agent reports outputs, signals and verdicts to a flow.

mod set_outputs;
mod signal;

use std::sync::Arc;

use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{Tool, ToolError};
use serde_json::{Map, Value};

pub use self::signal::{IterationReport, IterationSlot};
pub use autonoe_core::tool::{VERDICT_TOOL, VerdictSlot, verdict_tool};

use self::set_outputs::SetOutputs;
use self::signal::GiveSignal;
use crate::definition::VariableName;
use crate::progress::Triggers;

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
/// use autonoe_flow::progress::Triggers;
/// use autonoe_flow::tools::{IterationSlot, SET_OUTPUTS, iteration_tools};
///
/// let slot = IterationSlot::default();
/// let tools = iteration_tools(&["verdict".parse()?], &Triggers::default(), &slot);
///
/// let names: Vec<&str> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, [SET_OUTPUTS]);
/// # Ok::<(), autonoe_flow::definition::InvalidName>(())
/// ```
pub fn iteration_tools(
    outputs: &[VariableName],
    watched: &Triggers,
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
