//! Commands that a flow runs itself.

mod port;
mod process;

pub use self::port::{CommandEnd, CommandRunner, NoCommands};
pub use self::process::ProcessCommands;
