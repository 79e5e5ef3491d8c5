//! Blocking file operations of the tools on a separate thread, and constructors of the tools' errors.

use std::fmt::Display;
use std::io;

use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

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

/// Runs `work` on a thread for blocking operations.
///
/// When the call is dropped, `work` continues to its end, or until it checks the token.
pub(super) async fn blocking<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cancelled = context.cancelled.clone();
    // Dropping the call cancels this child token.
    let cancelled = cancelled.child_token();
    let guard = cancelled.clone().drop_guard();
    let done = tokio::task::spawn_blocking(move || work(&cancelled)).await;
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
