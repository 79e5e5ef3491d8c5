//! Runs as an engine's callers see them.

mod describing;
mod failing;
mod port;

pub use port::TemporalEngine;
