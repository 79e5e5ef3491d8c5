//! Which project a command is about.

use std::path::{Path, PathBuf};

use autonoe_core::Project;
use clap::Args;

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Which project a command is about.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project directory [default: the working directory]
    #[arg(long, short = 'p', value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
}

impl ProjectArgs {
    /// Finds the project.
    pub(crate) fn find(&self, surroundings: &Surroundings) -> Result<Project, CliError> {
        let chosen = self.project_dir.as_deref();
        let is_relative = chosen.is_none_or(Path::is_relative);
        if is_relative && surroundings.working_dir.as_os_str().is_empty() {
            return Err(
                CliError::failure("the working directory is gone").with_hint(
                    "go to one that is there, or name a project by its whole path with -p",
                ),
            );
        }
        Ok(Project::find(surroundings.shell_dir(), chosen)?)
    }
}
