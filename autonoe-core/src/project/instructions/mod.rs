//! Instruction texts of agents: built-in ones and those of a project.

mod built_in;
mod project;

pub use built_in::BuiltInInstructions;
pub use project::{InstructionOrigin, InstructionText, ProjectInstructions};
