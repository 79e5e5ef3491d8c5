//! The tool Write, which writes files.

use std::sync::Arc;

use autonoe_core::tool::ToolDescription;
use autonoe_core::{Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use tokio_util::sync::CancellationToken;

use super::file_tool::{FileTools, cancelled, invalid};
use super::workspace::{ExpectedFile, Purpose};

/// Creates the tool Write: writes a whole file of the workspace, and creates missing directories.
///
/// The write is atomic: readers see either the old content or the new one. An existing file keeps
/// its permissions.
pub(super) fn tool(files: &Arc<FileTools>) -> Arc<dyn Tool> {
    let description = "Writes a whole file of the workspace. Creates the file and its \
                       directories, or replaces the content of an existing file. Use Edit \
                       to change a part.";
    let description = ToolDescription::new("Write", description);
    files.tool(description, FileTools::write)
}

/// Input of Write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// All that the file is to hold.
    pub content: String,
}

impl FileTools {
    fn write(&self, input: &WriteInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let (bytes, limit) = (input.content.len(), self.limits.file_bytes);
        if bytes as u64 > limit {
            return Err(invalid(format!("the content has more than {limit} bytes")));
        }
        let _turn = self.workspace.lock_writes();
        if stop.is_cancelled() {
            return Err(cancelled());
        }
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
