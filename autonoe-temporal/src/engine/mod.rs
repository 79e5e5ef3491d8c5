//! [`TemporalEngine`]: submits, observes and controls runs.

mod error;
mod server_view;
mod temporal_engine;

pub(crate) use error::failed;
pub use temporal_engine::{Cluster, RunSummary, TemporalEngine};
