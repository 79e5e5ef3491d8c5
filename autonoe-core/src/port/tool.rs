//! What an agent can use that is ours.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ToolContext, plain_schema};

/// A tool that an agent can call, whichever backend it runs on.
///
/// An implementer owes:
/// - an error for an input that does not fit, never a guess;
/// - no effect when it returns an error;
/// - that several calls may run at once;
/// - an early return when [`ToolContext::cancelled`] is.
///
/// A caller goes through a [`Toolbox`](super::Toolbox), which turns a panic
/// into an error. Most tools are easier to write with a typed input: see
/// [`TypedTool`](super::TypedTool).
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
/// use serde_json::{Value, json};
///
/// struct Now(ToolDefinition);
///
/// #[async_trait]
/// impl Tool for Now {
///     fn definition(&self) -> &ToolDefinition {
///         &self.0
///     }
///
///     async fn call(&self, _input: Value, _ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::new("12:00"))
///     }
/// }
///
/// let now = Now(ToolDefinition::new("now", "Tells the time.", json!({"type": "object"})));
/// assert_eq!(now.definition().name, "now");
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// Describes the tool to the agent. Always the same.
    fn definition(&self) -> &ToolDefinition;

    /// Does what the tool does.
    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool {:?}", self.definition().name)
    }
}

/// What an agent is told about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Its name, unique in a toolbox.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
    /// Whether it changes anything; those that do not may run side by side.
    pub effect: ToolEffect,
}

impl ToolDefinition {
    /// Describes a tool that changes something.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            effect: ToolEffect::Writes,
        }
    }

    /// Describes a tool with the schema of its input type.
    pub fn of<I: JsonSchema>(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::new(name, description, plain_schema::<I>().to_value())
    }

    /// Says that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.effect = ToolEffect::ReadOnly;
        self
    }
}

/// Whether a tool changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// It only looks.
    ReadOnly,
    /// It changes something.
    Writes,
}

/// What a tool gives back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutput {
    /// What was done, in a few words for people.
    pub title: String,
    /// Details for programs, by the tool's own names.
    pub metadata: Map<String, Value>,
    /// What the agent reads.
    pub output: String,
    /// Files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolOutput {
    /// Makes an output of what the agent reads.
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    /// Makes an output of a JSON value that the agent reads.
    pub fn json(value: &Value) -> Self {
        Self::new(value.to_string())
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a detail for programs.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds a file.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

/// A file that goes with a tool's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// What it is, for example `image/png`.
    pub media_type: String,
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its bytes.
    pub data: Arc<[u8]>,
}

/// Why a tool did not do what it was asked. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// What kind of error it is.
    pub code: ToolErrorCode,
    /// A sentence that the agent can act on.
    pub message: String,
}

impl ToolError {
    /// Makes an error.
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
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
