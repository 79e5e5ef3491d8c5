//! Why a tool did not do what it was asked.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{AssistRequest, Attachment, ErrorFormat, ToolOutput};

/// Why a tool did not do what it was asked.
///
/// A tool that returns an error has changed nothing. A tool that failed after it changed something returns an
/// output with [`error`](ToolOutput::ERROR) in its metadata; a [`Toolbox`](super::Toolbox) makes an
/// error with that output of it.
///
/// Its text is what the agent reads: the text of the [output](Self::output), else `CODE: message`, or JSON if the
/// [definition](super::ToolDefinition::errors) of the tool says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolError {
    /// What kind of error it is.
    pub code: ToolErrorCode,
    /// A sentence that the agent can act on.
    pub message: String,
    /// What the tool asks a model for, when that is all that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assist: Option<Box<AssistRequest>>,
    /// Title, metadata, text and attachments of the failed call, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<ToolOutput>>,
    #[serde(skip)]
    format: ErrorFormat,
}

impl ToolError {
    /// Makes an error.
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            assist: None,
            output: None,
            format: ErrorFormat::Text,
        }
    }

    /// Asks for the help of a model: `prompt` is what it is told, `message` says why to people.
    ///
    /// Where the backend can ask a model, the tool is [called again](super::Tool::assisted) with the answer.
    /// Elsewhere the agent gets the error [`LLM_ASSIST_REQUIRED`](ToolErrorCode::LLM_ASSIST_REQUIRED) with the
    /// prompt. An output with this code in its [metadata](ToolOutput::ERROR) asks for the same.
    ///
    /// ```
    /// use autonoe_core::{ToolError, ToolErrorCode};
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

    /// Limits the answer that the tool asks a model for.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        if let Some(request) = &mut self.assist {
            request.max_tokens = Some(tokens);
        }
        self
    }

    /// Adds the title, metadata, text and attachments of the failed call.
    ///
    /// The agent reads the text of `output`, unless it is blank, and gets the attachments.
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

    /// Writes the error in `format` from now on.
    pub(super) fn in_format(mut self, format: ErrorFormat) -> Self {
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

/// What kind of error a tool met. The set is open: tools may have codes of their own.
///
/// ```
/// use autonoe_core::ToolErrorCode;
///
/// assert_eq!(ToolErrorCode::NOT_FOUND.as_str(), "NOT_FOUND");
/// let own = ToolErrorCode::new("BUILD_BROKEN");
/// assert_ne!(own, ToolErrorCode::UNKNOWN);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolErrorCode(Cow<'static, str>);

impl ToolErrorCode {
    /// The input does not fit.
    pub const VALIDATION_ERROR: Self = Self(Cow::Borrowed("VALIDATION_ERROR"));
    /// The id is taken.
    pub const DUPLICATE_ID: Self = Self(Cow::Borrowed("DUPLICATE_ID"));
    /// There is no such thing.
    pub const NOT_FOUND: Self = Self(Cow::Borrowed("NOT_FOUND"));
    /// The change is not legal from where things stand.
    pub const INVALID_TRANSITION: Self = Self(Cow::Borrowed("INVALID_TRANSITION"));
    /// Something could not be read or written.
    pub const IO_ERROR: Self = Self(Cow::Borrowed("IO_ERROR"));
    /// The configuration does not allow it to work.
    pub const CONFIG_ERROR: Self = Self(Cow::Borrowed("CONFIG_ERROR"));
    /// It is not allowed.
    pub const PERMISSION_DENIED: Self = Self(Cow::Borrowed("PERMISSION_DENIED"));
    /// Too many calls.
    pub const RATE_LIMITED: Self = Self(Cow::Borrowed("RATE_LIMITED"));
    /// The tool needs the model's help.
    pub const LLM_ASSIST_REQUIRED: Self = Self(Cow::Borrowed("LLM_ASSIST_REQUIRED"));
    /// It took too long.
    pub const TIMEOUT: Self = Self(Cow::Borrowed("TIMEOUT"));
    /// It was cancelled.
    pub const CANCELLED: Self = Self(Cow::Borrowed("CANCELLED"));
    /// Something else, a panic for example.
    pub const UNKNOWN: Self = Self(Cow::Borrowed("UNKNOWN"));

    /// Makes a code of the tool's own; upper case with underscores by custom.
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
