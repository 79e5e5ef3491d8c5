//! Command-line option for the project directory.

use std::path::{Path, PathBuf};

use autonoe_core::Project;
use clap::Args;

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Options that select a project.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project directory [default: the working directory]
    #[arg(long, short = 'p', value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
}

impl ProjectArgs {
    /// Returns the project in `--project-dir`, or else in the working directory.
    pub(crate) fn find(&self, env: &CliEnv) -> Result<Project, CliError> {
        let chosen = self.project_dir.as_deref();
        let is_relative = chosen.is_none_or(Path::is_relative);
        if is_relative && env.working_dir.as_os_str().is_empty() {
            return Err(
                CliError::failure("the working directory does not exist").with_hint(
                    "change to an existing directory, or pass the absolute path of a project with \
                     -p",
                ),
            );
        }
        Ok(Project::find(env.shell_dir(), chosen)?)
    }
}
