//! [`ToolOutput`], the output of a tool call, with attachments and the format of errors.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Format in which an agent reads the errors of a tool.
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
    pub(super) fn is_text(&self) -> bool {
        *self == Self::Text
    }
}

/// Output of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutput {
    /// Summary of the call in a few words, for humans.
    pub title: String,
    /// Details for programs, in the tool's own format. The call failed if `error` is present and
    /// neither null, false nor blank; its text is the code of the error.
    pub metadata: Map<String, Value>,
    /// Text that the agent reads.
    pub output: String,
    /// Attached files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolOutput {
    /// Key in the [metadata](Self::metadata) that marks the output of a failed call.
    ///
    /// The value is the error code, either one of [`ToolErrorCode`](crate::tool::ToolErrorCode) or
    /// a custom code of the tool. With `LLM_ASSIST_REQUIRED` and the text `{"action": .., "prompt":
    /// .., "message": ..}`, the tool requests assistance of a model, as with
    /// [`ToolError::assist`](crate::ToolError::assist).
    ///
    /// ```
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::tool::{ToolDescription, ToolErrorCode};
    /// use autonoe_core::{RunId, ToolContext};
    /// use autonoe_core::tool::Toolbox;
    /// use autonoe_core::{ToolError, ToolOutput, TypedTool, async_trait};
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

    /// Creates an output from the text that the agent reads.
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    /// Creates an output from a JSON value that the agent reads.
    pub fn json(value: &Value) -> Self {
        Self::new(value.to_string())
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds an entry to the metadata.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Adds the fields of `details` to the metadata. A value that does not serialise to an object
    /// adds nothing.
    #[must_use]
    pub fn with_details(mut self, details: &impl Serialize) -> Self {
        if let Ok(Value::Object(fields)) = serde_json::to_value(details) {
            self.metadata.extend(fields);
        }
        self
    }

    /// Attaches a file.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

/// A file attached to the output of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Media type, for example `image/png`.
    pub media_type: String,
    /// File name, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Content.
    pub data: Arc<[u8]>,
}

impl Attachment {
    /// Returns the file as text, for an agent that cannot receive files: its name, type and
    /// content, or a note with its size if the content is not text.
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
