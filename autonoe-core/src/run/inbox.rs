//! Where the requests of persons go while something is under way.

use super::{RunMessage, RunRequest};

/// Takes what persons ask for while a session, a wait or a pause is under way.
pub(super) trait Inbox: Send {
    /// Takes notice of a request.
    fn take(&mut self, request: RunRequest);

    /// Takes notice of a message that the running session took.
    fn steered(&mut self, message: RunMessage);

    /// Takes notice of a message that the running session took and its agent did not hear.
    fn unheard(&mut self, text: String);
}
