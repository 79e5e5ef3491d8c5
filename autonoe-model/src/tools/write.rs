//! [`Write`]: tool that writes files.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::ToolDescription;
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::failure::{blocking, cancelled, invalid};
use super::workspace::{ExpectedFile, Purpose};
use super::{ToolLimits, ToolWorkspace};

/// Writes a whole file of the workspace, and creates missing directories.
///
/// The write is atomic: readers see either the old content or the new one. An existing file keeps
/// its permissions.
#[derive(Clone, Debug)]
pub struct Write {
    workspace: Arc<ToolWorkspace>,
    limits: ToolLimits,
}

/// Input of [`Write`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// All that the file is to hold.
    pub content: String,
}

impl Write {
    /// Name of the tool.
    pub const NAME: &'static str = "Write";

    /// Creates the tool.
    pub fn new(workspace: Arc<ToolWorkspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

    fn write(&self, input: &WriteInput) -> Result<ToolOutput, ToolError> {
        let bytes = input.content.len();
        let entry = self.workspace.entry(&input.file_path, Purpose::Create)?;
        let was_there = entry.write_atomic(input.content.as_bytes(), &ExpectedFile::Anything)?;
        let path = entry.path.display();
        let done = if was_there { "Replaced" } else { "Created" };
        Ok(ToolOutput::new(format!("{done} {path} ({bytes} bytes)"))
            .with_title(format!("{done} {path}"))
            .with_metadata("path", path.to_string())
            .with_metadata("bytes", bytes)
            .with_metadata("created", !was_there))
    }
}

#[async_trait]
impl TypedTool for Write {
    type Input = WriteInput;

    fn describe(&self) -> ToolDescription {
        let description = "Writes a whole file of the workspace. Creates the file and its \
                           directories, or replaces the content of an existing file. Use Edit \
                           to change a part.";
        ToolDescription::new(Self::NAME, description)
    }

    async fn run(&self, input: WriteInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let limit = self.limits.file_bytes;
        if input.content.len() as u64 > limit {
            return Err(invalid(format!("the content has more than {limit} bytes")));
        }
        let tool = self.clone();
        blocking(context, move |stop| {
            let _turn = tool.workspace.lock_writes();
            if stop.is_cancelled() {
                Err(cancelled())
            } else {
                tool.write(&input)
            }
        })
        .await
    }
}
