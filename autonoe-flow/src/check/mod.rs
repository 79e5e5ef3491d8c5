//! Whether a step passed.

mod action;
mod checker;
mod judge;
mod keyword;

pub use self::action::PerformedAction;
pub use self::checker::{StepCheckContext, StepCheckResult, StepChecker};
pub use self::judge::{Judge, NoJudge, Verdict};
