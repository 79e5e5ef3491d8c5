//! [`TemporalEngine`]: submits, observes and controls runs.

mod error;
mod run_summary;
mod server_view;
mod temporal_engine;

pub use run_summary::RunSummary;
pub use temporal_engine::TemporalEngine;
