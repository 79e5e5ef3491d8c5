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
/// - no effect when it returns an error: a tool that failed half-way returns an output with
///   [`error`](ToolOutput::ERROR) in its metadata;
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutput {
    /// What was done, in a few words for people.
    pub title: String,
    /// Details for programs, by the tool's own names. The call failed if `error` is there and neither null, false
    /// nor blank; its text is the code of the error.
    pub metadata: Map<String, Value>,
    /// What the agent reads.
    pub output: String,
    /// Files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolOutput {
    /// The name in the [metadata](Self::metadata) that makes the output that of a failed call.
    ///
    /// Its value is the code of the error, one of those of [`ToolErrorCode`](super::ToolErrorCode) or one of the
    /// tool's own. With `LLM_ASSIST_REQUIRED` and the text `{"action": .., "prompt": .., "message": ..}` the tool asks
    /// for the help of a model, as with [`ToolError::assist`].
    ///
    /// ```
    /// use autonoe_core::{RunId, SessionKey, ToolContext, ToolDescription, ToolErrorCode};
    /// use autonoe_core::{ToolError, ToolOutput, Toolbox, TypedTool, async_trait};
    /// use serde_json::{Map, Value, json};
    ///
    /// struct Build;
    ///
    /// #[async_trait]
    /// impl TypedTool for Build {
    ///     type Input = Map<String, Value>;
    ///     fn describe(&self) -> ToolDescription {
    ///         ToolDescription::new("build", "Builds the project.")
    ///     }
    ///     async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
    ///         Ok(ToolOutput::new("2 of 3 parts are built; main.c:7 is wrong")
    ///             .with_title("Built 2 of 3 parts")
    ///             .with_metadata(ToolOutput::ERROR, "BUILD_BROKEN"))
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let toolbox = Toolbox::new([Build.into_tool()]);
    /// let context = ToolContext::new(SessionKey { run: RunId::new("run"), number: 1 });
    ///
    /// let error = toolbox.call("build", json!({}), context).await.expect_err("it failed");
    ///
    /// assert_eq!(error.code, ToolErrorCode::new("BUILD_BROKEN"));
    /// assert_eq!(error.to_string(), "2 of 3 parts are built; main.c:7 is wrong");
    /// # });
    /// ```
    pub const ERROR: &'static str = "error";

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

impl Attachment {
    /// Returns the file as text, for an agent that cannot be given the file: its name, type and content, or a note with
    /// its size if it is no text.
    pub fn to_text(&self) -> String {
        let kind = &self.media_type;
        let label = match &self.name {
            Some(name) => format!("attached file {name} ({kind})"),
            None => format!("attached file ({kind})"),
        };
        let endings = ["json", "xml", "yaml", "toml", "javascript"];
        let is_text = kind.starts_with("text/") || endings.iter().any(|it| kind.ends_with(it));
        match std::str::from_utf8(&self.data) {
            Ok(text) if is_text => format!("{label}:\n{text}"),
            _ => format!(
                "[{label}, {} bytes: it cannot be shown here]",
                self.data.len()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_attachment_is_its_content_or_a_note() {
        for (kind, name, data, expected) in [
            (
                "text/csv",
                Some("a.csv"),
                b"1,2".as_slice(),
                "attached file a.csv (text/csv):\n1,2",
            ),
            (
                "application/json",
                None,
                b"{}",
                "attached file (application/json):\n{}",
            ),
            (
                "application/yaml",
                None,
                b"a: 1",
                "attached file (application/yaml):\na: 1",
            ),
            (
                "text/plain",
                None,
                b"\xff",
                "[attached file (text/plain), 1 bytes: it cannot be shown here]",
            ),
            (
                "audio/wav",
                Some("a.wav"),
                b"RIFF",
                "[attached file a.wav (audio/wav), 4 bytes: it cannot be shown here]",
            ),
        ] {
            let attachment = Attachment {
                media_type: kind.to_owned(),
                name: name.map(str::to_owned),
                data: data.into(),
            };

            assert_eq!(attachment.to_text(), expected);
        }
    }
}
