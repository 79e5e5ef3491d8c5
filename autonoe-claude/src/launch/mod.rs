//! Launch of Claude Code: builds arguments, environment and files from [`ClaudeOptions`].

mod argv;
mod config_folder;
mod credentials;
mod deny_rules;
mod environment;
mod git_excludes;
mod masked_files;
mod offered_tools;
mod options;
mod plan;
mod project_memory;
mod project_path;
mod session_defaults;
mod setting_sources;
mod settings;
mod staging_folders;

pub use config_folder::ConfigFolder;
pub(crate) use environment::{Folders, bare_environment};
pub(crate) use offered_tools::OfferedTools;
pub use options::ClaudeOptions;
pub(crate) use plan::{FOLDER, LaunchPlan, PreparedLaunch, claims, furnish};
pub(crate) use project_path::check_project_path;
pub(crate) use session_defaults::completed;
pub use setting_sources::SettingSources;
pub(crate) use settings::Settings;
pub(crate) use staging_folders::StagingFolders;

#[cfg(test)]
mod tests;
