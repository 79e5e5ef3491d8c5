//! Integration tests of `autonoe-harness` on scripted agents.

mod alerts;
#[cfg(feature = "sqlite")]
mod compat;
mod coordinate;
mod executor;
#[cfg(feature = "sqlite")]
mod fleets;
#[cfg(feature = "conformance")]
mod handles;
#[cfg(feature = "sqlite")]
mod intact;
mod isolation;
mod one_dependency;
mod roadmap;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod state;
#[cfg(feature = "conformance")]
mod strategies;
mod work;
