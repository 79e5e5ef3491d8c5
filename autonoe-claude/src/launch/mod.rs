//! How the program is started: typed choices in, arguments and environment out.
//!
//! All of it is pure, and in one place, so that a snapshot shows the whole launch.

mod argv;
mod config_folder;
mod environment;
mod options;
mod plan;
mod settings;

pub use config_folder::ConfigFolder;
pub use options::{ClaudeOptions, SettingSources};
pub(crate) use plan::{LaunchPlan, folder_and_marker};
pub(crate) use settings::SandboxSettings;

#[cfg(test)]
mod tests;
