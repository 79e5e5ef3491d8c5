//! Roadmaps: what is to be done, as a person writes it.

mod attribute;
mod check;
mod command;
mod finding;
mod outline;
mod plan;
mod read;
mod timeout;

pub use finding::{RoadmapError, RoadmapFinding};
pub use plan::{PlannedTask, Roadmap};
