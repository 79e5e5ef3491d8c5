//! A tool of a [`Toolbox`](super::Toolbox) with its input validation and its requests to a model.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::reported_failure::{check_reported_error, with_prompt_for_agent};
use crate::tool::{
    InputSchema, InvalidSchema, Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode,
    ToolOutput,
};

/// Maximum number of violations reported for an input.
const MAX_VIOLATIONS: usize = 5;

/// Maximum number of requests to a model in one call.
const MAX_ASSISTS: usize = 4;

/// A tool with the compiled schema of its input.
#[derive(Debug)]
pub(super) struct RegisteredTool {
    tool: Arc<dyn Tool>,
    /// Compiled on first use, because most sessions call few of their tools.
    schema: OnceLock<Result<InputSchema, InvalidSchema>>,
}

impl RegisteredTool {
    pub(super) fn new(tool: Arc<dyn Tool>) -> Self {
        Self {
            tool,
            schema: OnceLock::new(),
        }
    }

    pub(super) fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Coerces and validates `input`.
    pub(super) fn validate_input(&self, input: Value) -> Result<Value, ToolError> {
        let ToolDefinition {
            name, input_schema, ..
        } = self.definition();
        let invalid = |message| ToolError::new(ToolErrorCode::VALIDATION_ERROR, message);
        let schema = self.schema.get_or_init(|| InputSchema::new(input_schema));
        let schema = schema
            .as_ref()
            .map_err(|error| invalid(format!("the input of {name} cannot be checked: {error}")))?;
        // Agents may omit the input of a tool without required fields.
        let input = match input {
            Value::Null => Value::Object(Map::new()),
            input => schema.coerce(input),
        };
        let mut violations = schema.violations(&input);
        violations.truncate(MAX_VIOLATIONS);
        if violations.is_empty() {
            Ok(input)
        } else {
            Err(invalid(format!(
                "the arguments of {name} do not match its schema: {}",
                violations.join("; ")
            )))
        }
    }

    /// Calls the tool. If it requests assistance of a model, the assistant answers. Without an
    /// assistant, the agent receives the prompt.
    pub(super) async fn call(
        &self,
        input: Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Some(assistant) = &context.assistant else {
            let result = check_reported_error(self.tool.call(input, context).await);
            return result.map_err(with_prompt_for_agent);
        };
        let mut result = check_reported_error(self.tool.call(input.clone(), context).await);
        for _ in 0..MAX_ASSISTS {
            let Err(ToolError {
                assist: Some(request),
                output,
                ..
            }) = &result
            else {
                return result;
            };
            let answer = match assistant.assist(request, context).await {
                Ok(answer) if answer.trim().is_empty() => {
                    Err(self.assist_error("the model gave no answer"))
                }
                answer => answer,
            };
            let answer = answer.map_err(|error| with_details(error, output.as_deref()))?;
            result = check_reported_error(self.tool.assisted(input.clone(), answer, context).await);
        }
        result.map_err(|error| match error.assist {
            Some(_) => {
                let output = error.output.as_deref();
                with_details(self.assist_error("it requested a model too often"), output)
            }
            None => error,
        })
    }

    fn assist_error(&self, why: &str) -> ToolError {
        let name = &self.definition().name;
        let message = format!("the tool {name} could not get help from a model: {why}");
        ToolError::new(ToolErrorCode::LLM_ASSIST_REQUIRED, message)
    }
}

/// Adds title, metadata and attachments of the output that requested a model to `error`, unless it
/// has an output of its own. The text of the output is omitted: it is the prompt of the model.
fn with_details(error: ToolError, output: Option<&ToolOutput>) -> ToolError {
    let Some(output) = output.filter(|_| error.output.is_none()) else {
        return error;
    };
    let mut details = ToolOutput {
        output: String::new(),
        ..output.clone()
    };
    if let Some(code) = details.metadata.get_mut(ToolOutput::ERROR) {
        *code = error.code.as_str().into();
    }
    error.with_output(details)
}
