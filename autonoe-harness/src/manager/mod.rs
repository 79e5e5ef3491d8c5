//! Sub-harnesses that are processes: started, found again, ended.

mod attendant;
mod engine;
mod harness_manager;
mod program;

pub(crate) use attendant::may_pass;
pub use harness_manager::{FoundHarness, HarnessManager};
pub use program::{SubHarnessProgram, Survival};
