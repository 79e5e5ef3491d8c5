//! What implementations of the ports of this crate must do, as functions to call from a test.

mod simulated_fleet;
mod strategy;

pub use simulated_fleet::{SimulatedFleet, SimulatedMember, SimulationEnd};
pub use strategy::strategy;
