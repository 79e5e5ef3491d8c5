//! Engine that executes runs in this process.

mod engine;
mod run;
mod run_state;
mod runners;

pub use engine::LocalEngine;
