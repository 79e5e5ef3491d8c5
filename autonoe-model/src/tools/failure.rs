//! What an agent is told when a tool cannot do its work.

use std::fmt::Display;
use std::io;

use autonoe_core::{ToolError, ToolErrorCode};

/// The call does not make sense.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}

/// The call is not allowed.
pub(super) fn denied(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::PERMISSION_DENIED, message)
}

/// There is no such thing.
pub(super) fn not_found(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::NOT_FOUND, message)
}

/// Nobody waits for the result any more.
pub(super) fn cancelled() -> ToolError {
    ToolError::new(ToolErrorCode::CANCELLED, "the call was cancelled")
}

/// The system refuses something that concerns `what`.
pub(super) fn system(what: impl Display, error: impl Into<io::Error>) -> ToolError {
    let error = error.into();
    let code = match error.kind() {
        io::ErrorKind::NotFound => ToolErrorCode::NOT_FOUND,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ToolErrorCode::PERMISSION_DENIED
        }
        _ => ToolErrorCode::IO_ERROR,
    };
    ToolError::new(code, format!("{what}: {error}"))
}
