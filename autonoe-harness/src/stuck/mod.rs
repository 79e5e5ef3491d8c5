//! Detection of stuck agents: a pure function of their iterations.

mod detector;
mod report;

pub use detector::{Circuit, StuckDetector};
pub use report::{Iteration, StuckLevel, StuckReason, StuckReport, StuckThresholds};
