//! Environment, folder and outer sandbox of a program.

mod sandbox;
mod sandboxed_launch;
mod session_directory;

pub use sandbox::{SandboxConfig, SandboxNetwork, SandboxSpec};
pub use sandboxed_launch::SandboxMounts;
pub use session_directory::{SessionDirectory, add_session_environment, remove_abandoned_sessions};
