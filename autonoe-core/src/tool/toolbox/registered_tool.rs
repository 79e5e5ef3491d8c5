//! A tool of a [`Toolbox`](super::Toolbox) with its input validation and its requests to a model.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::{
    AssistRequest, InputSchema, InvalidSchema, Tool, ToolContext, ToolDefinition, ToolError,
    ToolErrorCode, ToolOutput,
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

    fn assist_error(&self, reason: &str) -> ToolError {
        let name = &self.definition().name;
        let message = format!("the tool {name} could not get help from a model: {reason}");
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

/// Maximum length, in characters, of an error message taken from the text of an output.
const MESSAGE_LEN: usize = 200;

/// Returns an error if the metadata of the output contains one.
pub(super) fn check_reported_error(
    result: Result<ToolOutput, ToolError>,
) -> Result<ToolOutput, ToolError> {
    let output = result?;
    match error_code(&output) {
        None => Ok(output),
        Some(code) => Err(failure(code, output)),
    }
}

fn error_code(output: &ToolOutput) -> Option<ToolErrorCode> {
    match output.metadata.get(ToolOutput::ERROR)? {
        Value::Null | Value::Bool(false) => None,
        Value::String(code) if code.trim().is_empty() => None,
        Value::String(code) => Some(ToolErrorCode::new(code.trim().to_owned())),
        _ => Some(ToolErrorCode::UNKNOWN),
    }
}

fn failure(code: ToolErrorCode, output: ToolOutput) -> ToolError {
    let request = (code == ToolErrorCode::LLM_ASSIST_REQUIRED)
        .then(|| AssistText::parse(&output.output))
        .flatten();
    let mut error = ToolError::new(code, message(&output));
    if let Some(AssistText {
        prompt, message, ..
    }) = request
    {
        error.assist = Some(Box::new(AssistRequest::new(prompt)));
        error.message = message.unwrap_or(error.message);
    }
    error.with_output(output)
}

/// Returns the first line of the text that is not blank, or else the title.
fn message(output: &ToolOutput) -> String {
    let lines = output.output.lines().chain([output.title.as_str()]);
    let first = lines.map(str::trim).find(|line| !line.is_empty());
    let line = first.unwrap_or("the tool failed");
    line.chars().take(MESSAGE_LEN).collect()
}

/// Adds the prompt of a tool that needs a model to the error, so that the agent's own model can
/// answer it.
pub(super) fn with_prompt_for_agent(mut error: ToolError) -> ToolError {
    let Some(request) = &error.assist else {
        return error;
    };
    let mut output = error.output.take().unwrap_or_default();
    if AssistText::parse(&output.output).is_none() {
        output.output = json!({
            "action": ToolErrorCode::LLM_ASSIST_REQUIRED,
            "prompt": request.prompt,
            "message": error.message,
        })
        .to_string();
    }
    error.output = Some(output);
    error
}

/// Text of an output that requests assistance of a model.
#[derive(Deserialize)]
struct AssistText {
    prompt: String,
    message: Option<String>,
}

impl AssistText {
    fn parse(text: &str) -> Option<Self> {
        let request: Self = serde_json::from_str(text).ok()?;
        (!request.prompt.trim().is_empty()).then_some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_fails_when_its_metadata_names_an_error() {
        for (error, code) in [
            (json!(null), None),
            (json!(false), None),
            (json!(""), None),
            (json!(" \n"), None),
            (json!("NOT_FOUND"), Some("NOT_FOUND")),
            (json!(" BUILD_BROKEN "), Some("BUILD_BROKEN")),
            (json!(true), Some("UNKNOWN")),
            (json!(7), Some("UNKNOWN")),
            (json!({"code": 7}), Some("UNKNOWN")),
        ] {
            let output = ToolOutput::new("text").with_metadata("error", error.clone());

            let failure = check_reported_error(Ok(output)).err();

            assert_eq!(
                failure.as_ref().map(|error| error.code.as_str()),
                code,
                "{error}"
            );
        }
        assert_eq!(
            check_reported_error(Ok(ToolOutput::new("text"))),
            Ok(ToolOutput::new("text"))
        );
    }

    #[test]
    fn the_message_is_the_first_line_or_the_title() {
        let long = "x".repeat(MESSAGE_LEN + 1);
        for (text, title, expected) in [
            ("\n  first \nsecond", "Title", "first"),
            (" \n", "Title", "Title"),
            ("", "", "the tool failed"),
            (&long, "", &long[..MESSAGE_LEN]),
        ] {
            let output = ToolOutput::new(text)
                .with_title(title)
                .with_metadata("error", "IO_ERROR");

            let error = check_reported_error(Ok(output.clone())).expect_err("it failed");

            assert_eq!(error.message, expected);
            assert_eq!(error.output.as_deref(), Some(&output));
        }
    }

    #[test]
    fn only_an_output_with_a_prompt_requests_assistance() {
        let parse = |code: &str, text: &str| {
            let output = ToolOutput::new(text).with_metadata("error", code);
            let error = check_reported_error(Ok(output)).expect_err("it failed");
            (error.assist.map(|request| request.prompt), error.message)
        };
        let complete = r#"{"action":"LLM_ASSIST_REQUIRED","prompt":"Sum up","message":"too long"}"#;

        let prompt = Some("Sum up".to_owned());
        assert_eq!(
            parse("LLM_ASSIST_REQUIRED", complete),
            (prompt.clone(), "too long".to_owned())
        );
        let short = r#"{"prompt":"Sum up"}"#;
        assert_eq!(
            parse("LLM_ASSIST_REQUIRED", short),
            (prompt, short.to_owned())
        );
        for (code, text) in [
            ("TIMEOUT", complete),
            ("LLM_ASSIST_REQUIRED", r#"{"prompt":" "}"#),
            ("LLM_ASSIST_REQUIRED", r#"{"message":"too long"}"#),
            ("LLM_ASSIST_REQUIRED", "Sum up"),
        ] {
            assert_eq!(parse(code, text), (None, text.to_owned()));
        }
    }
}
