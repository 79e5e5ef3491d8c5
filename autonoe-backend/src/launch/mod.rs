//! Environment, folder and outer sandbox of a program.

mod program_file;
mod sandbox;
mod sandbox_trial;
mod sandboxed_launch;
mod session_directory;

pub use program_file::ProgramFile;
pub use sandbox::{SandboxConfig, SandboxNetwork};
pub use sandboxed_launch::SandboxMounts;
pub(crate) use session_directory::remove_abandoned_sessions;
pub use session_directory::{SessionDirectory, add_session_environment};
