//! Checks and maintenance commands of this workspace.
//!
//! `cargo xtask test` decides whether a change can be merged; the other commands regenerate files or
//! measure. `cargo xtask help` lists them.
//!
//! Pure functions parse the output of other programs (`counts`, `lines`, `slowest`, `metadata`, `tree`);
//! the modules under `steps` call cargo and pass its output to them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

mod api;
mod args;
mod bench_sdk;
mod cargo;
mod chores;
mod clis;
mod corpus;
mod counts;
mod deadline;
mod deny;
mod docs;
mod failure;
mod git;
mod image;
mod language;
mod lines;
mod metadata;
mod pipeline;
mod release;
mod semver;
mod steps;
mod stream;
mod temporal;
mod tools;
mod torture;
mod tree;

use std::process::ExitCode;

use crate::args::{Request, Scope};
use crate::cargo::Cargo;
use crate::failure::Failure;

/// The exit code of a command line that cannot be understood.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if let Some(code) = api::run_as_rustdoc() {
        return code;
    }
    let request = match args::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(failure) => {
            eprintln!("error: {failure}\n\n{}", args::HELP);
            return ExitCode::from(USAGE);
        }
    };

    match execute(request) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn execute(request: Request) -> Result<ExitCode, Failure> {
    match request {
        Request::Help => println!("{}", args::HELP),
        Request::Api { mode, packages } => api::run(&Cargo::from_env()?, mode, &packages)?,
        Request::Clis => clis::install(&Cargo::from_env()?)?,
        Request::Corpus => corpus::update(&Cargo::from_env()?)?,
        Request::Docs => docs::build(&Cargo::from_env()?)?,
        Request::Features => steps::check_features_alone(&Cargo::from_env()?)?,
        Request::Language => language::check(&Cargo::from_env()?)?,
        Request::Licences => deny::update(&Cargo::from_env()?)?,
        Request::Lines => lines::run(&Cargo::from_env()?)?,
        Request::Schemas => chores::update_schemas(&Cargo::from_env()?)?,
        Request::Bench => chores::bench(&Cargo::from_env()?)?,
        Request::BenchSdk { rounds } => bench_sdk::run(&Cargo::from_env()?, rounds)?,
        Request::BenchTemporal => temporal::bench(&Cargo::from_env()?)?,
        Request::ReleaseCheck => release::check(&Cargo::from_env()?)?,
        Request::Semver => semver::run(&Cargo::from_env()?)?,
        Request::CheckImage => image::check(&Cargo::from_env()?)?,
        Request::TestInstall => chores::test_install(&Cargo::from_env()?)?,
        Request::TestTemporal(scope) => temporal::test(&Cargo::from_env()?, scope)?,
        Request::Torture => torture::run(&Cargo::from_env()?)?,
        Request::Test(scope) => return Ok(test(&Cargo::from_env()?, scope)),
    }
    Ok(ExitCode::SUCCESS)
}

fn test(cargo: &Cargo, scope: Scope) -> ExitCode {
    let report = pipeline::run(cargo, steps::in_scope(scope));

    println!("\n{report}");
    // The totals are the last line whatever happened: programs read them there.
    println!("{}", report.tests.counts);
    if report.passed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
