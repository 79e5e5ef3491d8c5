//! Agents that misbehave, the same way each time.

mod agents;
mod client;
mod disturbed;
mod fault;
mod plan;

pub use agents::FaultyAgents;
pub use fault::{Fault, FaultHit};
