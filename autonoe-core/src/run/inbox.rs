//! Where the commands of persons go while something is under way.

use super::control::Command;

/// Takes what persons ask for while a session, a wait or a pause is under way.
pub(super) trait Inbox: Send {
    /// Takes notice of a command.
    fn take(&mut self, command: Command);

    /// Takes notice of a message that the running session took.
    fn steered(&mut self, text: String);
}
