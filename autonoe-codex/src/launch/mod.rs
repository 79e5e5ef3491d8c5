//! Launch of Codex: builds files, arguments and environment from [`CodexOptions`].

mod config_file;
mod options;
mod plan;
mod state_template;

pub(crate) use config_file::thread_settings;
pub use options::{CodexHome, CodexOptions, CodexProvider};
pub(crate) use plan::{FOLDER, LaunchPlan, bare_environment, claims, create_session_directory};
pub(crate) use state_template::StateTemplate;
