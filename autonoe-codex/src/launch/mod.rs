//! Choices become files, arguments and an environment, in one place.

mod config_file;
mod home;
mod options;
mod plan;
mod provider;
mod session_defaults;
mod settings;

pub use home::CodexHome;
pub use options::CodexOptions;
pub(crate) use plan::{FOLDER, LaunchPlan, bare_environment, claims, furnish};
pub use provider::CodexProvider;
pub(crate) use session_defaults::completed;
pub(crate) use settings::thread_settings;
