//! Arguments that fit the schema of their tool.

use std::collections::BTreeMap;

use autonoe_core::ToolDefinition;
use jsonschema::Validator;
use serde_json::Value;

/// Checks arguments by the schemas of tools. The program itself does not.
pub(super) struct Validators(BTreeMap<String, Result<Validator, String>>);

/// The most complaints that are worth repeating.
const COMPLAINTS: usize = 5;

impl Validators {
    pub(super) fn of<'t>(tools: impl Iterator<Item = &'t ToolDefinition>) -> Self {
        let validators = tools.map(|tool| {
            let validator = jsonschema::validator_for(&tool.input_schema);
            (
                tool.name.clone(),
                validator.map_err(|error| error.to_string()),
            )
        });
        Self(validators.collect())
    }

    /// Checks the arguments of `tool`. A tool that is not there is somebody else's complaint.
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words for the agent.
    pub(super) fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let validator = match self.0.get(tool) {
            None => return Ok(()),
            Some(Ok(validator)) => validator,
            Some(Err(error)) => return Err(format!("the schema of {tool} is broken: {error}")),
        };
        let complaints: Vec<String> = validator
            .iter_errors(arguments)
            .take(COMPLAINTS)
            .map(|error| {
                let place = error.instance_path().to_string();
                match place.is_empty() {
                    true => error.to_string(),
                    false => format!("{place}: {error}"),
                }
            })
            .collect();
        match complaints.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "VALIDATION_ERROR: the arguments of {tool} do not fit: {}",
                complaints.join("; ")
            )),
        }
    }
}
