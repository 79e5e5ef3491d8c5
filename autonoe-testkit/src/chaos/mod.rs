//! Agents and repositories that misbehave, the same way each time.

mod agents;
mod client;
mod disturbed;
mod fault;
mod plan;
mod repository;

pub use agents::FaultyAgents;
pub use fault::{Fault, FaultHit};
pub use repository::{FaultyRepository, RepositoryCall};
