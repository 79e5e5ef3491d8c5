//! Roadmaps: Markdown files with an objective and its tasks.

mod attribute;
mod outline;
mod plan;
mod read;

pub use plan::{PlannedTask, Roadmap, RoadmapError, RoadmapFinding};
