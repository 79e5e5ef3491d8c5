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
mod present;
mod report;
mod surroundings;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::surroundings::Surroundings;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let surroundings = Surroundings::of_this_process();
    let done = match cli.command {
        Command::Run(args) => commands::run(&args, &surroundings),
        Command::Sync(args) => commands::sync(&args, &surroundings),
        Command::Status(args) => commands::status(&args, &surroundings),
        Command::Log(args) => commands::log(&args, &surroundings),
        Command::Check(args) => commands::check(&args, &surroundings),
        Command::Doctor(args) => commands::doctor(&args, &surroundings),
        Command::Init(args) => commands::init(&args, &surroundings),
        Command::Schema(args) => commands::schema(&args, &surroundings),
        Command::Report(args) => commands::report(&args, &surroundings),
        Command::Completions(args) => commands::completions(&args, &surroundings),
        Command::Man(args) => commands::man(&args, &surroundings),
    };
    done.unwrap_or_else(|error| {
        surroundings.complain(&error);
        error.exit_code()
    })
}
