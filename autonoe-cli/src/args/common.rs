//! Command-line options that several commands share: project, output and notifications.

use std::io;
use std::path::{Path, PathBuf};

use autonoe_app::NotifyOptions;
use autonoe_core::Project;
use clap::{Args, ValueEnum};

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
        let project = Project::find(env.shell_dir(), chosen)?;
        check_state_dir(&project.state_dir())?;
        Ok(project)
    }
}

/// Rejects a `.autonoe` that is not a folder.
fn check_state_dir(path: &Path) -> Result<(), CliError> {
    let found = match (path.symlink_metadata(), path.metadata()) {
        (Ok(_), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            "a symlink that leads nowhere"
        }
        (Ok(_), Ok(found)) if found.is_file() => "a file, not a folder",
        (Ok(_), Ok(found)) if !found.is_dir() => "not a folder",
        _ => return Ok(()),
    };
    let message = format!("{} is {found}", path.display());
    Err(CliError::failure(message)
        .with_hint("Autonoe keeps its files in a folder of this name: move it away"))
}

/// Options for the output of a run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print every event with its full payload
    #[arg(long, short = 'd')]
    pub(crate) debug: bool,
    /// Print only errors, warnings of the command (such as a sandbox that is off), and the result
    #[arg(long, short = 'q', conflicts_with = "debug")]
    pub(crate) quiet: bool,
    /// The format of standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) output: OutputFormat,
}

/// Format of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A summary at the end
    #[default]
    Text,
    /// One JSON event per line, as it happens
    Json,
}

/// Options for notifications, which runs, flows and fleets share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Notifications")]
pub(crate) struct NotifyArgs {
    /// Send notifications to this webhook
    #[arg(long, value_name = "URL")]
    notify: Option<String>,
    /// The key that signs the notifications. For NAME `ops-hook`, set AUTONOE_SIGNING_KEY_OPS_HOOK
    #[arg(long, value_name = "NAME", requires = "notify")]
    notify_key: Option<String>,
    /// Run this command line with `/bin/sh` for each notification, in your home directory and
    /// without a sandbox; AUTONOE_ALERT contains the notification as JSON
    #[arg(long, value_name = "CMD")]
    notify_command: Option<String>,
    /// Show desktop notifications
    #[arg(long)]
    notify_desktop: bool,
}

impl NotifyArgs {
    pub(crate) fn options(&self) -> NotifyOptions {
        NotifyOptions {
            url: self.notify.clone(),
            key: self.notify_key.clone(),
            command: self.notify_command.clone(),
            desktop: self.notify_desktop,
        }
    }
}
