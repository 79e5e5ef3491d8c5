//! Conformance suites for implementations of this crate's ports, to be called from tests.

#[cfg(feature = "sqlite")]
mod meta_state;
#[cfg(feature = "sqlite")]
mod state_store;
mod strategy;

#[cfg(feature = "sqlite")]
pub use meta_state::meta_state;
#[cfg(feature = "sqlite")]
pub use state_store::state_store;
pub use strategy::{SimulatedFleet, SimulatedMember, SimulationReport, strategy};
