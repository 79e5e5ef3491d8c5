//! One tool of a toolbox, with what stands around it.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::reported_failure::{checked, with_prompt_for_agent};
use crate::port::{
    InputSchema, InvalidSchema, Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode,
    ToolOutput,
};

/// The most complaints about an input that are worth repeating.
const COMPLAINTS: usize = 5;

/// How often a tool may ask a model in one call.
const MOST_ASSISTS: usize = 4;

/// One tool, with the schema that its input must fit.
#[derive(Debug)]
pub(super) struct Offered {
    tool: Arc<dyn Tool>,
    /// Made when it is needed first: most sessions call few of their tools.
    schema: OnceLock<Result<InputSchema, InvalidSchema>>,
}

impl Offered {
    pub(super) fn new(tool: Arc<dyn Tool>) -> Self {
        Self {
            tool,
            schema: OnceLock::new(),
        }
    }

    pub(super) fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Returns `input` as the tool gets it, or says why it does not fit.
    pub(super) fn fitting(&self, input: Value) -> Result<Value, ToolError> {
        let ToolDefinition {
            name, input_schema, ..
        } = self.definition();
        let invalid = |message| ToolError::new(ToolErrorCode::VALIDATION_ERROR, message);
        let schema = self.schema.get_or_init(|| InputSchema::new(input_schema));
        let schema = schema
            .as_ref()
            .map_err(|error| invalid(format!("the input of {name} cannot be checked: {error}")))?;
        // Agents leave out the input of a tool without required fields.
        let input = match input {
            Value::Null => Value::Object(Map::new()),
            input => schema.coerce(input),
        };
        let mut complaints = schema.complaints(&input);
        complaints.truncate(COMPLAINTS);
        match complaints.is_empty() {
            true => Ok(input),
            false => Err(invalid(format!(
                "the arguments of {name} do not fit: {}",
                complaints.join("; ")
            ))),
        }
    }

    /// Calls the tool. Where it needs a model, asks the assistant, or else gives the agent the prompt.
    pub(super) async fn call(
        &self,
        input: Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Some(assistant) = &context.assistant else {
            let result = checked(self.tool.call(input, context).await);
            return result.map_err(with_prompt_for_agent);
        };
        let mut result = checked(self.tool.call(input.clone(), context).await);
        for _ in 0..MOST_ASSISTS {
            let Some(request) = result
                .as_ref()
                .err()
                .and_then(|error| error.assist.as_ref())
            else {
                return result;
            };
            let answer = assistant.assist(request, context).await?;
            if answer.trim().is_empty() {
                return Err(self.unhelped("the model gave no answer"));
            }
            result = checked(self.tool.assisted(input.clone(), answer, context).await);
        }
        result.map_err(|error| match error.assist {
            Some(_) => self.unhelped("it asked a model too often"),
            None => error,
        })
    }

    fn unhelped(&self, why: &str) -> ToolError {
        let name = &self.definition().name;
        let message = format!("the tool {name} could not be helped: {why}");
        ToolError::new(ToolErrorCode::LLM_ASSIST_REQUIRED, message)
    }
}
