//! [`FileTool`]: a tool that works on files, on a thread for blocking operations, and the errors of
//! tools.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::config::ToolLimits;
use super::workspace::ToolWorkspace;

/// The workspace and the limits of tools for files.
#[derive(Debug)]
pub(super) struct FileTools {
    pub(super) workspace: Arc<ToolWorkspace>,
    pub(super) limits: ToolLimits,
}

/// The work of a tool. When the call is dropped, it continues to its end, or until it checks the
/// token.
type Work<I> = fn(&FileTools, &I, &CancellationToken) -> Result<ToolOutput, ToolError>;

/// A tool with inputs of type `I`.
pub(super) struct FileTool<I> {
    files: Arc<FileTools>,
    description: ToolDescription,
    work: Work<I>,
}

impl FileTools {
    /// Creates a tool.
    pub(super) fn tool<I>(
        self: &Arc<Self>,
        description: ToolDescription,
        work: Work<I>,
    ) -> Arc<dyn Tool>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let tool = FileTool {
            files: self.clone(),
            description,
            work,
        };
        tool.into_tool()
    }
}

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + Send + 'static> TypedTool for FileTool<I> {
    type Input = I;

    fn describe(&self) -> ToolDescription {
        self.description.clone()
    }

    async fn run(&self, input: I, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        // Dropping the call cancels this child token.
        let stop = context.cancelled.child_token();
        let guard = stop.clone().drop_guard();
        let (files, work) = (self.files.clone(), self.work);
        let done = tokio::task::spawn_blocking(move || work(&files, &input, &stop)).await;
        drop(guard);
        done.unwrap_or_else(|error| {
            tracing::error!(
                panicked = error.is_panic(),
                "the work of a tool did not finish"
            );
            let message = "the tool failed because of an internal error";
            Err(ToolError::new(ToolErrorCode::UNKNOWN, message))
        })
    }
}

/// Error of an invalid call.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}

/// Error of a forbidden call.
pub(super) fn denied(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::PERMISSION_DENIED, message)
}

/// Error of a missing file or entry.
pub(super) fn not_found(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::NOT_FOUND, message)
}

/// Error of a cancelled call.
pub(super) fn cancelled() -> ToolError {
    ToolError::new(ToolErrorCode::CANCELLED, "the call was cancelled")
}

/// Error of a failed system call about `subject`.
pub(super) fn system(subject: impl Display, error: impl Into<io::Error>) -> ToolError {
    let error = error.into();
    let code = match error.kind() {
        io::ErrorKind::NotFound => ToolErrorCode::NOT_FOUND,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ToolErrorCode::PERMISSION_DENIED
        }
        _ => ToolErrorCode::IO_ERROR,
    };
    ToolError::new(code, format!("{subject}: {error}"))
}
