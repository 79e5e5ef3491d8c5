//! [`Inbox`], the receiver of requests during a session, a wait or a pause.

use super::{RunMessage, RunRequest};

/// Receives the operator's requests during a session, a wait or a pause.
pub(crate) trait Inbox: Send {
    /// Handles a request.
    fn receive(&mut self, request: RunRequest);

    /// Records a message that the running session accepted.
    fn record_steered(&mut self, message: RunMessage);

    /// Queues a message again that the running session accepted but its agent did not read.
    fn requeue(&mut self, text: String);
}
