//! Crash tests: kill a run after every line of its journal in turn, then resume it.

mod attempt;
mod child;
mod points;
mod report;

pub use attempt::RunAttempt;
pub use points::CrashPoints;
pub use report::{CrashPoint, CrashReport, TotalsAccuracy};
