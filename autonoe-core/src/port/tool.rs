//! What an agent can use that is ours.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ToolContext, ToolError, plain_schema};

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

    /// Goes on with the answer that [`call`](Self::call) asked for by [`ToolError::assist`].
    ///
    /// `input` is that of the call. As long as it is not said otherwise the answer is the output.
    /// It may ask once more, a few times.
    async fn assisted(
        &self,
        input: Value,
        answer: String,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let _ = (input, context);
        Ok(ToolOutput::new(answer))
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn definition(&self) -> &ToolDefinition {
        (**self).definition()
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        (**self).call(input, context).await
    }

    async fn assisted(
        &self,
        input: Value,
        answer: String,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        (**self).assisted(input, answer, context).await
    }
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
    /// How the agent reads its errors.
    #[serde(default, skip_serializing_if = "ErrorFormat::is_text")]
    pub errors: ErrorFormat,
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
            errors: ErrorFormat::Text,
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

/// How an agent reads the errors of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorFormat {
    /// `CODE: message`
    #[default]
    Text,
    /// `{"success":false,"error":"CODE","message":".."}`, for a tool whose output is JSON with
    /// `"success": true`.
    Json,
}

impl ErrorFormat {
    fn is_text(&self) -> bool {
        *self == Self::Text
    }
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

    /// Adds the fields of `details` to what programs read. What is no object adds nothing.
    #[must_use]
    pub fn with_details(mut self, details: &impl Serialize) -> Self {
        if let Ok(Value::Object(fields)) = serde_json::to_value(details) {
            self.metadata.extend(fields);
        }
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
