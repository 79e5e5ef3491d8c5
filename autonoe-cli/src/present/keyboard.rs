//! `QuietKeyboard`, which suppresses the echo of control keys.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Suppresses the echo of `^C` and other control keys until it is dropped.
///
/// The cursor is at the end of the transient line, so an echo would start a new line and leave the
/// old one on the screen. A killed program leaves the terminal without these echoes, and with no
/// other damage.
#[derive(Debug)]
pub(crate) struct QuietKeyboard {
    before: Termios,
}

impl QuietKeyboard {
    /// Suppresses the echo, if standard input is a terminal.
    pub(crate) fn start() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHOCTL);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for QuietKeyboard {
    fn drop(&mut self) {
        // A closed terminal needs no reset.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
