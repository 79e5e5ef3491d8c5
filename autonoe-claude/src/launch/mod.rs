//! Launch of Claude Code: builds arguments, environment and files from [`ClaudeOptions`].

mod command_line;
mod credentials;
mod git_excludes;
mod options;
mod plan;
mod project_path;
mod settings;
mod staging_folders;
mod tools;

pub(crate) use command_line::{Folders, bare_environment};
pub(crate) use git_excludes::UserExcludes;
pub(crate) use options::with_defaults;
pub use options::{ClaudeOptions, ConfigFolder, SettingSources};
pub(crate) use plan::{FOLDER, LaunchPlan, PreparedLaunch, claims, create_session_directory};
pub(crate) use project_path::check_project_path;
pub(crate) use settings::Settings;
pub(crate) use staging_folders::StagingFolders;
pub(crate) use tools::OfferedTools;

#[cfg(test)]
mod tests;
