//! Checks of steps.

mod action;
mod checker;
mod evidence;
mod judge;

pub use self::checker::{StepCheckContext, StepCheckResult, StepChecker, ToolOutcome};
pub(crate) use self::evidence::{judge_prompt, shorten_details};
pub use self::judge::{JudgeVerdict, NoJudge, StepJudge};
