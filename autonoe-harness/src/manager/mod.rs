//! Sub-harnesses that are processes: started, found again, ended.

mod attendant;
mod engine;
mod harness_manager;
mod program;

pub use harness_manager::HarnessManager;
pub use program::{SubHarnessProgram, Survival};
