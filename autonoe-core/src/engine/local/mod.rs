//! Runs in this process.

mod engine;
mod run;
mod runners;
mod standing;

pub use engine::LocalEngine;
