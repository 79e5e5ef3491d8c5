//! Runs that are killed after every line of their journal in turn.

mod attempt;
mod child;
mod comparison;
mod life;
mod points;
mod report;

pub use attempt::RunAttempt;
pub use points::CrashPoints;
pub use report::{CrashPoint, CrashReport, Totals};
