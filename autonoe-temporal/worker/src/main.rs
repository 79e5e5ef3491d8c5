//! `autonoe-worker`: carries out runs that are submitted to a Temporal server, and submits them.
//!
//! Sessions are carried out by the program `autonoe`, which it starts in the folder of a project.

mod args;
mod engine;
mod error;
mod journals;
mod logging;
mod projects;
mod remotes;
mod serving;
mod settings;

use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use error::WorkerProblem;

fn main() -> ExitCode {
    let args = Args::parse();
    logging::start(args.quiet);
    match play(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            problem.print();
            ExitCode::from(problem.exit_code())
        }
    }
}

fn play(args: &Args) -> Result<(), WorkerProblem> {
    let settings = settings::Settings::load(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(WorkerProblem::Runtime)?;
    match args.command {
        Some(Command::Engine) => {
            let served = runtime.block_on(engine::serve(settings.server));
            // A read of standard input cannot be called back.
            runtime.shutdown_background();
            served
        }
        None => runtime.block_on(serving::serve(settings)),
    }
}
