//! Constructors of the tools' errors.

use std::fmt::Display;
use std::io;

use autonoe_core::ToolError;
use autonoe_core::tool::ToolErrorCode;

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

/// Error of a failed system call about `what`.
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
