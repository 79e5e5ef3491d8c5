//! Choices become files, arguments and an environment, in one place.

mod config_file;
mod options;
mod plan;

pub(crate) use config_file::thread_settings;
pub(crate) use options::completed;
pub use options::{CodexHome, CodexOptions, CodexProvider};
pub(crate) use plan::{FOLDER, LaunchPlan, bare_environment, claims, furnish};
