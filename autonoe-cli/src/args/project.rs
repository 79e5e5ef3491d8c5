//! Which project a command is about.

use std::path::PathBuf;

use autonoe_core::{Project, ProjectError};
use clap::Args;

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
    pub(crate) fn find(&self, surroundings: &Surroundings) -> Result<Project, ProjectError> {
        Project::find(&surroundings.working_dir, self.project_dir.as_deref())
    }
}
