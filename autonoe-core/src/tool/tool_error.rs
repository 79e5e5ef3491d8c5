//! [`ToolError`], the failure of a tool call, and its [`ToolErrorCode`].

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tool::{Attachment, ErrorFormat, ToolOutput};

/// Failure of a tool call.
///
/// A tool that returns an error has changed nothing. A tool that failed after it changed something
/// returns an output with [`error`](ToolOutput::ERROR) in its metadata; a
/// [`Toolbox`](crate::tool::Toolbox) converts it to an error with that output.
///
/// The agent reads the `Display` text: the text of the [output](Self::output), else `CODE:
/// message`, or JSON if the [definition](crate::tool::ToolDefinition::errors) of the tool requests
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolError {
    /// Kind of the error.
    pub code: ToolErrorCode,
    /// Message that the agent can act on.
    pub message: String,
    /// Request to a model, if its answer is all that the tool needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assist: Option<Box<AssistRequest>>,
    /// Title, metadata, text and attachments of the failed call, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<ToolOutput>>,
    #[serde(skip)]
    format: ErrorFormat,
}

impl ToolError {
    /// Creates an error.
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            assist: None,
            output: None,
            format: ErrorFormat::Text,
        }
    }

    /// Requests assistance of a model. `prompt` is the complete prompt of the model, `message`
    /// explains the reason to humans.
    ///
    /// If the backend can query a model, the tool is [called again](crate::Tool::assisted) with the
    /// answer. Otherwise the agent receives the error
    /// [`LLM_ASSIST_REQUIRED`](ToolErrorCode::LLM_ASSIST_REQUIRED) with the prompt. An output with
    /// this code in its [metadata](ToolOutput::ERROR) has the same effect.
    ///
    /// ```
    /// use autonoe_core::tool::ToolErrorCode;
    /// use autonoe_core::ToolError;
    ///
    /// let error = ToolError::assist("Summarise: ..", "the log is too long to be shown");
    ///
    /// assert_eq!(error.code, ToolErrorCode::LLM_ASSIST_REQUIRED);
    /// assert_eq!(error.assist.map(|request| request.prompt).as_deref(), Some("Summarise: .."));
    /// ```
    pub fn assist(prompt: impl Into<String>, message: impl Into<String>) -> Self {
        let mut error = Self::new(ToolErrorCode::LLM_ASSIST_REQUIRED, message);
        error.assist = Some(Box::new(AssistRequest::new(prompt)));
        error
    }

    /// Limits the number of tokens in the model's answer.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        if let Some(request) = &mut self.assist {
            request.max_tokens = Some(tokens);
        }
        self
    }

    /// Adds the title, metadata, text and attachments of the failed call.
    ///
    /// The agent reads the text of `output`, unless it is blank, and receives the attachments.
    #[must_use]
    pub fn with_output(mut self, output: ToolOutput) -> Self {
        self.output = Some(Box::new(output));
        self
    }

    /// Returns the attachments of the failed call.
    pub fn attachments(&self) -> &[Attachment] {
        self.output
            .as_ref()
            .map_or(&[], |output| &output.attachments)
    }

    /// Sets the format of the `Display` text.
    pub(super) fn with_format(mut self, format: ErrorFormat) -> Self {
        self.format = format;
        self
    }
}

impl std::error::Error for ToolError {}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, .. } = self;
        if let Some(output) = &self.output
            && !output.output.trim().is_empty()
        {
            return f.write_str(&output.output);
        }
        match self.format {
            ErrorFormat::Text => write!(f, "{code}: {message}"),
            ErrorFormat::Json => {
                let error = json!({"success": false, "error": code, "message": message});
                write!(f, "{error}")
            }
        }
    }
}

/// Kind of a tool error. The set is open: tools may define their own codes.
///
/// ```
/// use autonoe_core::tool::ToolErrorCode;
///
/// assert_eq!(ToolErrorCode::NOT_FOUND.as_str(), "NOT_FOUND");
/// let own = ToolErrorCode::new("BUILD_BROKEN");
/// assert_ne!(own, ToolErrorCode::UNKNOWN);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolErrorCode(Cow<'static, str>);

impl ToolErrorCode {
    /// The input is invalid.
    pub const VALIDATION_ERROR: Self = Self(Cow::Borrowed("VALIDATION_ERROR"));
    /// The id is already in use.
    pub const DUPLICATE_ID: Self = Self(Cow::Borrowed("DUPLICATE_ID"));
    /// The requested item does not exist.
    pub const NOT_FOUND: Self = Self(Cow::Borrowed("NOT_FOUND"));
    /// The current state does not permit the change.
    pub const INVALID_TRANSITION: Self = Self(Cow::Borrowed("INVALID_TRANSITION"));
    /// Something could not be read or written.
    pub const IO_ERROR: Self = Self(Cow::Borrowed("IO_ERROR"));
    /// The configuration prevents the tool from working.
    pub const CONFIG_ERROR: Self = Self(Cow::Borrowed("CONFIG_ERROR"));
    /// The call is not permitted.
    pub const PERMISSION_DENIED: Self = Self(Cow::Borrowed("PERMISSION_DENIED"));
    /// Too many calls.
    pub const RATE_LIMITED: Self = Self(Cow::Borrowed("RATE_LIMITED"));
    /// The tool needs an answer of a model.
    pub const LLM_ASSIST_REQUIRED: Self = Self(Cow::Borrowed("LLM_ASSIST_REQUIRED"));
    /// The call timed out.
    pub const TIMEOUT: Self = Self(Cow::Borrowed("TIMEOUT"));
    /// The call was cancelled.
    pub const CANCELLED: Self = Self(Cow::Borrowed("CANCELLED"));
    /// Any other failure, for example a panic.
    pub const UNKNOWN: Self = Self(Cow::Borrowed("UNKNOWN"));

    /// Creates a custom code; upper case with underscores by convention.
    pub fn new(code: impl Into<Cow<'static, str>>) -> Self {
        Self(code.into())
    }

    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Request of a tool to a model. See [`ToolError::assist`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AssistRequest {
    /// Complete prompt: the model does not see the conversation.
    pub prompt: String,
    /// Maximum number of tokens in the answer; `None` leaves the limit to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl AssistRequest {
    /// Creates a request with `prompt` and no token limit.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            max_tokens: None,
        }
    }
}
