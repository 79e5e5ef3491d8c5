//! Roadmaps: Markdown files with an objective and its tasks.

mod attribute;
mod outline;
mod plan;
mod read;

pub use outline::RoadmapFinding;
pub use plan::{PlannedTask, Roadmap, RoadmapError};
