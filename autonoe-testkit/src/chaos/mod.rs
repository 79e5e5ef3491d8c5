//! Agents and repositories that misbehave, the same way each time.

mod agents;
mod disturbed;
mod plan;
mod repository;

pub use agents::FaultyAgents;
pub use plan::{Fault, FaultHit};
pub use repository::{FaultyRepository, RepositoryCall};
