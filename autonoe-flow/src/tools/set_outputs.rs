//! The tool `set_outputs`.

use async_trait::async_trait;
use autonoe_core::tool::ToolDefinition;
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

use super::{IterationSlot, SET_OUTPUTS, fields, refused};
use crate::definition::VariableName;

/// Sets outputs of a step, and only those that it declares.
pub(super) struct SetOutputs {
    definition: ToolDefinition,
    declared: Vec<VariableName>,
    slot: IterationSlot,
}

impl SetOutputs {
    pub(super) fn new(declared: &[VariableName], slot: &IterationSlot) -> Self {
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
