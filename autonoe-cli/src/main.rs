//! The `autonoe` command.
//!
//! Only this crate reads the environment, the terminal and the signals of the process. Everything
//! that an embedder needs is in the libraries.

mod args;
mod cli_env;
mod columns;
mod commands;
mod error;
mod present;
mod report;
mod results;

use std::io::{self, Write};
use std::process::ExitCode;

use autonoe_core::Mode;
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Cli, Command};
use crate::cli_env::CliEnv;
use crate::error::CliError;

fn main() -> ExitCode {
    let parsed = Cli::try_parse().map_err(suggest_quotes);
    let env = CliEnv::from_process();
    let done = match parsed {
        Ok(cli) => run_command(&cli.command, &env),
        Err(answer) => print(&answer),
    };
    done.unwrap_or_else(|error| {
        env.print_error(&error);
        error.exit_code()
    })
}

/// Replaces the tip of the parser for `autonoe check ls -la`: a command is one argument.
fn suggest_quotes(mut error: clap::Error) -> clap::Error {
    let words = std::env::args_os().skip(1);
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let [check, command @ ..] = words.as_slice() else {
        return error;
    };
    let is_split = error.kind() == ErrorKind::UnknownArgument && check == "check";
    if is_split && command.iter().all(|word| !word.contains('\'')) {
        let tip = format!("quote the command: autonoe check '{}'", command.join(" "));
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// Prints the output of the parser: help, the version, or a usage error.
fn print(answer: &clap::Error) -> Result<ExitCode, CliError> {
    let printed = answer.print().and_then(|()| io::stdout().flush());
    // An error that cannot be written to standard error is dropped.
    if !answer.use_stderr() {
        results::classify_write(printed)?;
    }
    Ok(u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn run_command(command: &Command, env: &CliEnv) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => commands::run(Mode::Run, args, env),
        Command::Sync(args) => commands::run(Mode::Sync, args, env),
        Command::Ask(args) => commands::ask_agent(args, env),
        Command::Status(args) => commands::status(args, env),
        Command::Log(args) => commands::log(args, env),
        Command::Check(args) => commands::check(args, env),
        Command::Doctor(args) => commands::doctor(args, env),
        Command::Init(args) => commands::init(args, env),
        Command::Schema(args) => commands::schema(args, env),
        Command::Report(args) => commands::report(args, env),
        Command::Serve(args) => commands::serve(args, env),
        Command::Mcp(args) => commands::mcp(args, env),
        Command::Flow(args) => commands::flow(args, env),
        Command::Harness(args) => commands::harness(args, env),
        Command::Completions(args) => commands::completions(args, env),
        Command::Man(args) => commands::man(args, env),
    }
}
