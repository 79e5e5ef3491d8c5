//! Roadmaps: Markdown files with an objective and its tasks.

mod attribute;
mod command;
mod finding;
mod outline;
mod plan;
mod read;
mod timeout;
mod validation;

pub use finding::{RoadmapError, RoadmapFinding};
pub use plan::{PlannedTask, Roadmap};
