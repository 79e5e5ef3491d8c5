//! Whether an agent is stuck: a pure judgement over what it did.

mod detector;
mod iteration;
mod patterns;
mod report;
mod thresholds;

pub use detector::{Circuit, StuckDetector};
pub use iteration::Iteration;
pub use report::{StuckLevel, StuckReason, StuckReport};
pub use thresholds::StuckThresholds;
