//! [`TypedTool`], a tool whose input is a Rust type.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::{
    ErrorFormat, Tool, ToolContext, ToolDefinition, ToolEffect, ToolError, ToolErrorCode,
    ToolOutput, plain_schema,
};

/// A tool whose input is a Rust type. The schema is derived from the type, and the input is
/// validated before the tool runs.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::tool::ToolDescription;
/// use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
/// }
///
/// struct Greeter;
///
/// #[async_trait]
/// impl TypedTool for Greeter {
///     type Input = Greet;
///
///     fn describe(&self) -> ToolDescription {
///         ToolDescription::new("greet", "Greets someone.").read_only()
///     }
///
///     async fn run(&self, input: Greet, _: &ToolContext) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::new(format!("Hello, {}!", input.name)).with_title("Greeted"))
///     }
/// }
///
/// let tool = Greeter.into_tool();
/// assert_eq!(tool.definition().name, "greet");
/// ```
#[async_trait]
pub trait TypedTool: Send + Sync + Sized + 'static {
    /// Input of the tool.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Describes the tool to the agent. Called once. The schema is derived from
    /// [`Input`](Self::Input).
    fn describe(&self) -> ToolDescription;

    /// Runs the tool.
    async fn run(&self, input: Self::Input, context: &ToolContext)
    -> Result<ToolOutput, ToolError>;

    /// Resumes a call with the answer that [`run`](Self::run) requested through
    /// [`ToolError::assist`].
    ///
    /// By default, the answer becomes the output.
    async fn assisted(
        &self,
        input: Self::Input,
        answer: String,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let _ = (input, context);
        Ok(ToolOutput::new(answer))
    }

    /// Converts the tool to a [`Tool`].
    fn into_tool(self) -> Arc<dyn Tool> {
        Arc::new(Typed {
            definition: self.describe().with_schema(input_schema::<Self>()),
            tool: self,
        })
    }
}

/// Description of a [`TypedTool`] without its schema, which is derived from the input type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDescription {
    name: String,
    description: String,
    effect: ToolEffect,
    errors: ErrorFormat,
}

impl ToolDescription {
    /// Describes a tool that changes something: its name, unique within a toolbox, and a
    /// description of what it does and when to use it.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            effect: ToolEffect::Writes,
            errors: ErrorFormat::Text,
        }
    }

    /// Marks the tool as read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.effect = ToolEffect::ReadOnly;
        self
    }

    /// Formats errors as JSON with `"success": false`.
    #[must_use]
    pub fn with_json_errors(mut self) -> Self {
        self.errors = ErrorFormat::Json;
        self
    }

    fn with_schema(self, schema: Value) -> ToolDefinition {
        let mut definition = ToolDefinition::new(self.name, self.description, schema);
        definition.effect = self.effect;
        definition.errors = self.errors;
        definition
    }
}

/// Returns the schema of the input of `T`. It is derived once per process, because each session
/// creates its tools anew.
fn input_schema<T: TypedTool>() -> Value {
    static SCHEMAS: LazyLock<Mutex<HashMap<TypeId, Value>>> = LazyLock::new(Mutex::default);
    let lock = || SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().get(&TypeId::of::<T>()).cloned();
    known.unwrap_or_else(|| {
        let schema = plain_schema::<T::Input>().to_value();
        lock().insert(TypeId::of::<T>(), schema.clone());
        schema
    })
}

struct Typed<T> {
    definition: ToolDefinition,
    tool: T,
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = self.parse_input(input)?;
        self.tool.run(input, context).await
    }

    async fn assisted(
        &self,
        input: Value,
        answer: String,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let input = self.parse_input(input)?;
        self.tool.assisted(input, answer, context).await
    }
}

impl<T: TypedTool> Typed<T> {
    fn parse_input(&self, input: Value) -> Result<T::Input, ToolError> {
        serde_json::from_value(input).map_err(|error| {
            ToolError::new(
                ToolErrorCode::VALIDATION_ERROR,
                format!(
                    "the input of {} is not valid: {error}",
                    self.definition.name
                ),
            )
        })
    }
}
