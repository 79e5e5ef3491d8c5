//! Conformance suite for implementations of [`Strategy`](crate::Strategy), to be called from tests.

mod strategy;

pub use strategy::{SimulatedFleet, SimulatedMember, SimulationReport, strategy};
