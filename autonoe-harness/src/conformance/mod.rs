//! What implementations of the ports of this crate must do, as functions to call from a test.

mod handle;
mod meta_state;
mod simulated_fleet;
mod state_store;
mod strategy;

pub use handle::{HANDLE_JOB, HandleJob, handle};
pub use meta_state::meta_state;
pub use simulated_fleet::{SimulatedFleet, SimulatedMember, SimulationEnd};
pub use state_store::state_store;
pub use strategy::strategy;
