//! The tool that writes files.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::blocking::blocking;
use super::failure::{cancelled, invalid};
use super::workspace::{Expected, Purpose};
use super::{ToolLimits, Workspace};

/// Writes a whole file of the workspace, and the directories it is in.
///
/// It is written at once: whoever reads it sees the old content or the new one. A file that
/// was there keeps its permissions.
#[derive(Clone, Debug)]
pub struct Write {
    workspace: Arc<Workspace>,
    limits: ToolLimits,
}

/// What [`Write`] is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// All that the file is to hold.
    pub content: String,
}

impl Write {
    /// The name of the tool.
    pub const NAME: &'static str = "Write";

    /// Makes the tool.
    pub fn new(workspace: Arc<Workspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

    fn write(&self, input: &WriteInput) -> Result<ToolOutput, ToolError> {
        let bytes = input.content.len();
        let entry = self.workspace.entry(&input.file_path, Purpose::Create)?;
        let was_there = entry.put(input.content.as_bytes(), &Expected::Anything)?;
        let shown = entry.path.display();
        let done = if was_there { "Replaced" } else { "Created" };
        Ok(ToolOutput::new(format!("{done} {shown} ({bytes} bytes)"))
            .with_title(format!("{done} {shown}"))
            .with_metadata("path", shown.to_string())
            .with_metadata("bytes", bytes)
            .with_metadata("created", !was_there))
    }
}

#[async_trait]
impl TypedTool for Write {
    type Input = WriteInput;

    fn describe(&self) -> ToolDescription {
        let description = "Writes a file of the workspace as a whole: a new one, with the \
                           directories it is in, or one that is there, whose content is then \
                           gone. Use Edit to change a part.";
        ToolDescription::new(Self::NAME, description)
    }

    async fn run(&self, input: WriteInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let limit = self.limits.file_bytes;
        if input.content.len() as u64 > limit {
            return Err(invalid(format!("the content has more than {limit} bytes")));
        }
        let tool = self.clone();
        blocking(context, move |stop| {
            let _turn = tool.workspace.writing();
            match stop.is_cancelled() {
                true => Err(cancelled()),
                false => tool.write(&input),
            }
        })
        .await
    }
}
