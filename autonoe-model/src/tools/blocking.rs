//! Runs blocking file operations on a separate thread.

use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

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
