//! [`TemporalEngine`]: submits, observes and controls runs.

mod error;
mod server_view;
mod temporal_engine;

pub use temporal_engine::{RunSummary, TemporalEngine};
