//! The texts that agents are told.

mod built_in;
mod project;

pub use built_in::BuiltInInstructions;
pub use project::{InstructionOrigin, InstructionText, ProjectInstructions};
