//! `autonoe completions` and `autonoe man`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Prints a script that completes commands in a shell.
pub(crate) fn completions(
    args: &CompletionsArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "autonoe", &mut script);
    surroundings.say(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page of the whole, or of one command.
pub(crate) fn man(args: &ManArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let mut cli = Cli::command();
    // Until then a command does not know what it is called as a whole.
    cli.build();
    let mut title = "autonoe".to_owned();
    let mut command = &cli;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            CliError::usage(format!("there is no command {name:?}"))
                .with_hint("`autonoe help` lists them")
        })?;
        title = format!("{title}-{name}");
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .title(title.to_uppercase())
        .render(&mut page)
        .map_err(|error| CliError::failure(error.to_string()))?;
    surroundings.say(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
