//! Arguments that fit the schema of their tool.

use std::collections::BTreeMap;

use autonoe_core::ToolDefinition;
use serde_json::Value;

use super::schema::Schema;

/// Checks arguments by the schemas of tools. The program itself does not.
pub(super) struct Validators(BTreeMap<String, Result<Schema, String>>);

/// The most complaints that are worth repeating.
const COMPLAINTS: usize = 5;

impl Validators {
    pub(super) fn of<'t>(tools: impl Iterator<Item = &'t ToolDefinition>) -> Self {
        let schemas = tools.map(|tool| (tool.name.clone(), Schema::new(&tool.input_schema)));
        Self(schemas.collect())
    }

    /// Checks the arguments of `tool`. A tool that is not there is somebody else's complaint.
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words for the agent.
    pub(super) fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let schema = match self.0.get(tool) {
            None => return Ok(()),
            Some(Ok(schema)) => schema,
            Some(Err(error)) => {
                return Err(format!("the schema of {tool} cannot be used: {error}"));
            }
        };
        let mut complaints = schema.complaints(arguments);
        complaints.truncate(COMPLAINTS);
        match complaints.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "VALIDATION_ERROR: the arguments of {tool} do not fit: {}",
                complaints.join("; ")
            )),
        }
    }
}
