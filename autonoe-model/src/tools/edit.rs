//! [`Edit`]: tool that replaces a part of a file.

use std::io::Read;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::failure::{blocking, cancelled, invalid, system};
use super::replace::{Occurrences, ReplaceError, Replacement};
use super::workspace::{ExpectedFile, Purpose};
use super::{ToolLimits, ToolWorkspace};

/// Replaces a part of a file of the workspace. By default, it must occur exactly once.
///
/// The rest of the file stays unchanged byte for byte, and so do its permissions.
#[derive(Clone, Debug)]
pub struct Edit {
    workspace: Arc<ToolWorkspace>,
    limits: ToolLimits,
}

/// Input of [`Edit`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// Text to replace, exactly as it is in the file, without line numbers.
    pub old_string: String,
    /// Replacement text.
    pub new_string: String,
    /// Whether it is replaced wherever it is. Otherwise it must be there once.
    #[serde(default)]
    pub replace_all: bool,
}

impl Edit {
    /// Name of the tool.
    pub const NAME: &'static str = "Edit";

    /// Creates the tool.
    pub fn new(workspace: Arc<ToolWorkspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

    fn edit(&self, input: &EditInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let entry = self.workspace.entry(&input.file_path, Purpose::Change)?;
        let (file, stat) = entry.open()?;
        let path = entry.path.display();
        let limit = self.limits.file_bytes;
        let mut text = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut text);
        read.map_err(|error| system(format!("{:?}", entry.path), error))?;
        if text.len() as u64 > limit {
            return Err(invalid(format!("{path} has more than {limit} bytes")));
        }
        let occurrences = if input.replace_all {
            Occurrences::All
        } else {
            Occurrences::One
        };
        let replacement = Replacement {
            old: &input.old_string,
            new: &input.new_string,
            occurrences,
            most: limit,
        };
        let replaced = replacement.apply(&text, stop).map_err(|error| {
            let code = match error {
                ReplaceError::NotFound => ToolErrorCode::NOT_FOUND,
                ReplaceError::Cancelled => return cancelled(),
                _ => ToolErrorCode::VALIDATION_ERROR,
            };
            ToolError::new(code, format!("{path}: {error}"))
        })?;
        entry.write_atomic(&replaced.text, &ExpectedFile::Unchanged(stat))?;
        let (count, line) = (replaced.count, replaced.line);
        let message = match count {
            1 => format!("Edited {path} at line {line}"),
            _ => format!("Edited {path} in {count} places, from line {line} on"),
        };
        Ok(ToolOutput::new(message)
            .with_title(format!("Edited {path}"))
            .with_metadata("path", path.to_string())
            .with_metadata("replaced", count)
            .with_metadata("line", line))
    }
}

#[async_trait]
impl TypedTool for Edit {
    type Input = EditInput;

    fn describe(&self) -> ToolDescription {
        let description = "Replaces old_string with new_string in a file of the workspace. \
                           old_string must occur in the file exactly as given, and exactly \
                           once unless replace_all is set. Read the file first.";
        ToolDescription::new(Self::NAME, description)
    }

    async fn run(&self, input: EditInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(context, move |stop| {
            let _turn = tool.workspace.lock_writes();
            if stop.is_cancelled() {
                Err(cancelled())
            } else {
                tool.edit(&input, stop)
            }
        })
        .await
    }
}
