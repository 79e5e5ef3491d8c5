//! The `autonoe` command.
//!
//! Here the environment, the terminal and the signals of the process are read, and
//! nowhere below. What an embedder would need too is in the libraries.

mod args;
mod columns;
mod commands;
mod compose;
mod error;
mod exit_code;
mod fitting;
mod present;
mod report;
mod results;
mod surroundings;
mod telemetry;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::error::CliError;
use crate::surroundings::Surroundings;

fn main() -> ExitCode {
    let parsed = Cli::try_parse();
    let surroundings = Surroundings::of_this_process();
    let done = match parsed {
        Ok(cli) => carry_out(&cli.command, &surroundings),
        Err(answer) => print(&answer),
    };
    done.unwrap_or_else(|error| {
        surroundings.complain(&error);
        error.exit_code()
    })
}

/// Prints what comes instead of a command: help, the version, or what is wrong with the usage.
fn print(answer: &clap::Error) -> Result<ExitCode, CliError> {
    let printed = answer.print().and_then(|()| io::stdout().flush());
    // A complaint that cannot be written can be told nowhere else.
    if !answer.use_stderr() {
        results::judged(printed)?;
    }
    Ok(u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn carry_out(command: &Command, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => commands::run(args, surroundings),
        Command::Sync(args) => commands::sync(args, surroundings),
        Command::Ask(args) => commands::ask(args, surroundings),
        Command::Status(args) => commands::status(args, surroundings),
        Command::Log(args) => commands::log(args, surroundings),
        Command::Check(args) => commands::check(args, surroundings),
        Command::Doctor(args) => commands::doctor(args, surroundings),
        Command::Init(args) => commands::init(args, surroundings),
        Command::Schema(args) => commands::schema(args, surroundings),
        Command::Report(args) => commands::report(args, surroundings),
        Command::Mcp(args) => commands::mcp(args, surroundings),
        Command::SessionHost(args) => commands::session_host(args, surroundings),
        Command::Flow(args) => commands::flow(args, surroundings),
        Command::Harness(args) => commands::harness(args, surroundings),
        Command::Submit(args) => commands::submit(args, surroundings),
        Command::Engine(args) => commands::engine(args, surroundings),
        Command::Completions(args) => commands::completions(args, surroundings),
        Command::Man(args) => commands::man(args, surroundings),
    }
}
