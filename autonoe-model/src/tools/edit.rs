//! The tool that changes a part of a file.

use std::io::Read;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::blocking::blocking;
use super::failure::{cancelled, invalid, system};
use super::replace::{NotReplaced, Replacement, Which};
use super::workspace::{Expected, Purpose};
use super::{ToolLimits, Workspace};

/// Replaces a part of a file of the workspace, which must be there exactly once.
///
/// Everything else of the file stays as it is, byte for byte, and so do its permissions.
#[derive(Clone, Debug)]
pub struct Edit {
    workspace: Arc<Workspace>,
    limits: ToolLimits,
}

/// What [`Edit`] is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// What is replaced, exactly as it is in the file, without line numbers.
    pub old_string: String,
    /// What it is replaced by.
    pub new_string: String,
    /// Whether it is replaced wherever it is. Otherwise it must be there once.
    #[serde(default)]
    pub replace_all: bool,
}

impl Edit {
    /// The name of the tool.
    pub const NAME: &'static str = "Edit";

    /// Makes the tool.
    pub fn new(workspace: Arc<Workspace>, limits: ToolLimits) -> Self {
        Self { workspace, limits }
    }

    fn edit(&self, input: &EditInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let entry = self.workspace.entry(&input.file_path, Purpose::Change)?;
        let (file, stat) = entry.open()?;
        let shown = entry.path.display();
        let limit = self.limits.file_bytes;
        let mut text = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut text);
        read.map_err(|error| system(format!("{:?}", entry.path), error))?;
        if text.len() as u64 > limit {
            return Err(invalid(format!("{shown} has more than {limit} bytes")));
        }
        let which = if input.replace_all {
            Which::All
        } else {
            Which::One
        };
        let replacement = Replacement {
            old: &input.old_string,
            new: &input.new_string,
            which,
            most: limit,
        };
        let replaced = replacement.of(&text, stop).map_err(|why| {
            let code = match why {
                NotReplaced::NotFound => ToolErrorCode::NOT_FOUND,
                NotReplaced::Cancelled => return cancelled(),
                _ => ToolErrorCode::VALIDATION_ERROR,
            };
            ToolError::new(code, format!("{shown}: {why}"))
        })?;
        entry.put(&replaced.text, &Expected::Unchanged(stat))?;
        let (count, line) = (replaced.count, replaced.line);
        let message = match count {
            1 => format!("Edited {shown} at line {line}"),
            _ => format!("Edited {shown} in {count} places, from line {line} on"),
        };
        Ok(ToolOutput::new(message)
            .with_title(format!("Edited {shown}"))
            .with_metadata("path", shown.to_string())
            .with_metadata("replaced", count)
            .with_metadata("line", line))
    }
}

#[async_trait]
impl TypedTool for Edit {
    type Input = EditInput;

    fn describe(&self) -> ToolDescription {
        let description = "Replaces old_string by new_string in a file of the workspace. \
                           old_string must be in the file exactly as given, and once, unless \
                           replace_all is set. Read the file first.";
        ToolDescription::new(Self::NAME, description)
    }

    async fn run(&self, input: EditInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(context, move |stop| {
            let _turn = tool.workspace.writing();
            match stop.is_cancelled() {
                true => Err(cancelled()),
                false => tool.edit(&input, stop),
            }
        })
        .await
    }
}
