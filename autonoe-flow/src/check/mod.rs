//! Checks of steps, and the commands that they run.

mod checker;
mod command;

pub(crate) use self::checker::shorten_details;
pub use self::checker::{CheckVerdict, StepChecked, StepResponse, ToolOutcome, check_step};
pub use self::command::{CommandOutcome, CommandRunner, NoCommands, ProcessRunner};
