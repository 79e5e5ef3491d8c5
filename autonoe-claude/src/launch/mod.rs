//! Launch of Claude Code: builds arguments, environment and files from [`ClaudeOptions`].

mod command_line;
mod credentials;
mod deny_rules;
mod git_excludes;
mod offered_tools;
mod options;
mod plan;
mod project_memory;
mod project_path;
mod session_defaults;
mod settings;
mod staging_folders;

pub(crate) use command_line::{Folders, bare_environment};
pub(crate) use offered_tools::OfferedTools;
pub use options::{ClaudeOptions, ConfigFolder, SettingSources};
pub(crate) use plan::{FOLDER, LaunchPlan, PreparedLaunch, claims, create_session_directory};
pub(crate) use project_path::check_project_path;
pub(crate) use session_defaults::with_defaults;
pub(crate) use settings::Settings;
pub(crate) use staging_folders::StagingFolders;

#[cfg(test)]
mod tests;
