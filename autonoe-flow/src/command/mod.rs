//! Commands that a flow runs itself, for checks and completion conditions.

mod port;
mod process;

pub use self::port::{CommandOutcome, CommandRunner, NoCommands};
pub use self::process::ProcessCommands;
