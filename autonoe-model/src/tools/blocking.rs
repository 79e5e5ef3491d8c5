//! Work with files, which blocks, kept off the threads that must not be.

use autonoe_core::{ToolContext, ToolError, ToolErrorCode};
use tokio_util::sync::CancellationToken;

/// Does `work` on a thread that may block.
///
/// When the call is dropped, `work` goes on to its end, or until it looks at the token.
pub(super) async fn blocking<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cancelled = context.cancelled.clone();
    // A call that is dropped cancels its own token too.
    let cancelled = cancelled.child_token();
    let guard = cancelled.clone().drop_guard();
    let done = tokio::task::spawn_blocking(move || work(&cancelled)).await;
    drop(guard);
    done.unwrap_or_else(|error| {
        tracing::error!(
            panicked = error.is_panic(),
            "the work of a tool did not finish"
        );
        let message = "the tool failed in a way it should not";
        Err(ToolError::new(ToolErrorCode::UNKNOWN, message))
    })
}
