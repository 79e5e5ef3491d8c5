//! Whether a step passed.

mod action;
mod checker;
mod evidence;
mod judge;
mod keyword;
mod tool_outcome;

pub use self::checker::{StepCheckContext, StepCheckResult, StepChecker};
pub(crate) use self::evidence::{judge_prompt, shorten_details};
pub use self::judge::{Judge, NoJudge, Verdict};
pub use self::tool_outcome::ToolOutcome;
