//! [`Tool`] trait and [`ToolDefinition`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{ErrorFormat, ToolContext, ToolError, ToolOutput};

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

/// Returns the JSON Schema for deserialising a `T`, without Rust examples in its descriptions.
///
/// Agents and editors read these schemas, and Rust examples would only distract them.
///
/// ```
/// use autonoe_core::ledger::DeliverableId;
/// use autonoe_core::tool::plain_schema;
///
/// let schema = plain_schema::<DeliverableId>();
///
/// assert!(!schema.to_value().to_string().contains("autonoe_core"));
/// ```
pub fn plain_schema<T: JsonSchema>() -> Schema {
    plain::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the JSON Schema of a serialised `T`, without Rust examples in its descriptions.
///
/// It guarantees more than [`plain_schema`], which lists what a reader accepts: optional fields are
/// always present, and a value with several accepted notations has one.
///
/// ```
/// use autonoe_core::tool::{plain_output_schema, plain_schema};
/// use autonoe_core::CostUsd;
///
/// let (read, written) = (plain_schema::<CostUsd>(), plain_output_schema::<CostUsd>());
///
/// assert_eq!(read.get("type"), Some(&["string", "number"].into()));
/// assert_eq!(written.get("type"), Some(&"string".into()));
/// ```
pub fn plain_output_schema<T: JsonSchema>() -> Schema {
    plain::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(cut_examples).transform(&mut schema);
    schema
}

fn cut_examples(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::String(description)) = object.get_mut("description")
        && let Some(example) = description.find("```")
    {
        description.truncate(description[..example].trim_end().len());
    }
}
