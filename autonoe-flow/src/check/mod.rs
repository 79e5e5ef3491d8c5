//! Checks of steps.

mod checker;
mod evidence;

pub use self::checker::{
    JudgeVerdict, NoJudge, StepCheckContext, StepCheckResult, StepChecker, StepJudge, ToolOutcome,
};
pub(crate) use self::evidence::{judge_prompt, shorten_details};
