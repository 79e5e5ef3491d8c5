//! Checks of steps.

mod checker;
mod evidence;

pub use self::checker::{
    NoJudge, StepCheckContext, StepCheckResult, StepChecked, StepChecker, ToolOutcome,
};
pub(crate) use self::evidence::shorten_details;
pub use crate::command::{CommandOutcome, NoCommands, ProcessCommands};
