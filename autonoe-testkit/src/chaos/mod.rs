//! Agents and repositories with reproducible faults.

mod agents;
mod plan;
mod repository;

pub use agents::FaultyAgents;
pub use plan::{Fault, FaultHit};
pub use repository::{FaultyRepository, RepositoryCall};
