//! [`Tool`] trait and [`ToolDefinition`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{ErrorFormat, ToolContext, ToolError, ToolOutput, plain_schema};

/// A tool that an agent can call, on any backend.
///
/// Requirements for implementations:
/// - An input that does not match the schema is an error, never a guess.
/// - A tool that returns an error has changed nothing. A tool that fails half-way returns an output
///   with [`error`](ToolOutput::ERROR) in its metadata instead.
/// - Several calls may run concurrently.
/// - The call returns early when [`ToolContext::cancelled`] is cancelled.
///
/// Callers go through a [`Toolbox`](crate::tool::Toolbox), which converts a panic to an error. Most
/// tools are easier to write with a typed input: see [`TypedTool`](crate::TypedTool).
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::tool::ToolDefinition;
/// use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
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
    /// Returns the definition that the agent receives. It must not change between calls.
    fn definition(&self) -> &ToolDefinition;

    /// Runs the tool.
    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// Resumes a call with the answer that [`call`](Self::call) requested through
    /// [`ToolError::assist`].
    ///
    /// `input` is the input of the original call. By default, the answer becomes the output. The
    /// tool may request assistance again, up to a small limit.
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

/// Description of a tool that the agent receives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name of the tool, unique within a toolbox.
    pub name: String,
    /// Description of the tool and of when to use it.
    pub description: String,
    /// JSON Schema of the input.
    pub input_schema: Value,
    /// Whether the tool changes anything. Read-only tools may run concurrently.
    pub effect: ToolEffect,
    /// Format in which the agent reads errors of the tool.
    #[serde(default, skip_serializing_if = "ErrorFormat::is_text")]
    pub errors: ErrorFormat,
}

impl ToolDefinition {
    /// Creates the definition of a tool that changes something.
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

    /// Creates the definition of a tool, deriving the input schema from `I`.
    pub fn for_input<I: JsonSchema>(
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self::new(name, description, plain_schema::<I>().to_value())
    }

    /// Marks the tool as read-only.
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
    /// The tool only reads.
    ReadOnly,
    /// The tool changes something.
    Writes,
}
