//! Environment, folder and outer sandbox of a program.

mod enclosed;
mod place;
mod walls;

pub use enclosed::Inside;
pub use place::{SessionPlace, add_session_environment, sweep};
pub use walls::{SandboxNetwork, SandboxSpec, Walls};
