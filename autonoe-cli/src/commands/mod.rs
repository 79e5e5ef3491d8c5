//! Implementations of the commands; those of a few lines are in this file.

mod ask;
mod check;
mod doctor;
mod dry_run;
mod flow;
mod harness;
mod init;
mod log;
mod notify;
mod output_file;
mod report;
mod run;
mod run_ui;
mod runtime;
mod schema;
mod serve;
mod signals;
mod status;

use std::process::ExitCode;

use autonoe_app::bridge_tools;
use clap::CommandFactory;

pub(crate) use self::ask::ask_agent;
pub(crate) use self::check::check;
pub(crate) use self::doctor::doctor;
pub(crate) use self::flow::flow;
pub(crate) use self::harness::harness;
pub(crate) use self::init::init;
pub(crate) use self::log::log;
pub(crate) use self::report::report;
pub(crate) use self::run::run;
#[cfg(test)]
pub(crate) use self::run::{configuration_lines, limits_line};
pub(crate) use self::schema::schema;
pub(crate) use self::serve::serve;
pub(crate) use self::status::status;
use crate::args::{Cli, CompletionsArgs, ManArgs, McpArgs};
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

/// Forwards MCP messages of an agent to the tools of the run that started it.
pub(crate) fn mcp(args: &McpArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    bridge_tools(&args.url, env)?;
    Ok(ExitCode::SUCCESS)
}
