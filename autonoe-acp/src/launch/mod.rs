//! Choices become arguments, environment, files and walls, in one place.

mod gemini;
mod home;
mod options;
mod plan;
mod walls;

pub(crate) use gemini::missing_credentials;
pub use home::HomeFolder;
pub use options::AcpOptions;
pub(crate) use options::Preset;
pub(crate) use plan::{check, launch, probe_launch, sweep};
pub use walls::{SandboxNetwork, Walls};
