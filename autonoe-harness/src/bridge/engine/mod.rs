//! Runs that an engine in another program drives.

mod program_engine;
mod questions;
mod serving;
mod wire;

pub use program_engine::ProgramEngine;
pub use serving::serve_engine;
