//! `autonoe completions` and `autonoe man`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Prints a completion script for a shell.
pub(crate) fn completions(args: &CompletionsArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "autonoe", &mut script);
    env.print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page of `autonoe`, or of one command.
pub(crate) fn man(args: &ManArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let mut cli = Cli::command();
    // Sets the full names of subcommands.
    cli.build();
    let mut title = "autonoe".to_owned();
    let mut command = &cli;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            CliError::usage(format!("unknown command {name:?}"))
                .with_hint("run `autonoe help` to list the commands")
        })?;
        title = format!("{title}-{name}");
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .title(title.to_uppercase())
        .render(&mut page)
        .map_err(|error| CliError::failure(error.to_string()))?;
    env.print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
