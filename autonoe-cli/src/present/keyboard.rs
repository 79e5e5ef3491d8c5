//! What the terminal shows of keys that are pressed.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keeps the terminal from showing `^C` where the cursor is, as long as this lives.
///
/// The cursor is behind the transient line, so that the echo would begin a new one and leave
/// the old one standing. A program that is killed leaves a terminal without these echoes, which
/// is all that it loses.
#[derive(Debug)]
pub(crate) struct QuietKeyboard {
    before: Termios,
}

impl QuietKeyboard {
    /// Begins it, if standard input is a terminal.
    pub(crate) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHOCTL);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for QuietKeyboard {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
