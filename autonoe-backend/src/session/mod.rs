//! The session of a program: its client, and who owns the program.

mod actor;
mod client;
mod commands;
mod program;

pub use client::ProgramClient;
pub use commands::{Command, Commands, Query};
pub use program::{After, Program};
