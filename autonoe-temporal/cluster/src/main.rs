//! `autonoe-cluster`: executes, submits and watches runs of Autonoe on a Temporal cluster.

mod args;
mod commands;
mod fleet_work;
mod journals;
mod logging;
mod merge_job;
mod output;
mod projects;
mod remotes;
mod settings;
mod task_executor;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use args::{Cli, Command};
use autonoe_app::telemetry::parent_trace;
use autonoe_app::{AppError, Env, bridge_tools, error_chain};
use autonoe_temporal::{ConnectError, TemporalEngine};
use clap::Parser;
use output::Output;
use settings::{Settings, WorkerSettings};
use tokio::runtime::Runtime;

/// Time that agents have to end when the worker stops. Then they are killed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(12);

/// Time limit for killing.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::standard();
    let env = Env {
        // A missing directory is reported when a project is looked for in it.
        working_dir: std::env::current_dir().unwrap_or_default(),
        environment: std::env::vars_os().collect(),
    };
    let done = match &cli.command {
        Command::Mcp { url } => bridge_tools(url, &env).map(|()| 0),
        _ => run(&cli, &output, env),
    };
    match done {
        Ok(code) => code.into(),
        Err(error) => {
            output.error(&error);
            error.exit_code()
        }
    }
}

fn run(cli: &Cli, output: &Output, env: Env) -> Result<u8, AppError> {
    let settings = Settings::load(&cli.server)?;
    let runtime = Runtime::new()
        .map_err(|error| AppError::failure(format!("the program cannot start: {error}")))?;
    if let Command::Worker(args) = &cli.command {
        let settings = WorkerSettings::new(settings, args)?;
        let worked = runtime.block_on(worker::work(settings, args.quiet, output, env));
        // Sessions in progress are dropped with the runtime.
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        if autonoe_process::wait_for_shutdowns(SHUTDOWN_TIMEOUT) > 0 {
            autonoe_process::kill_all_children(KILL_TIMEOUT);
        }
        return worked.map(|()| 0);
    }
    logging::start(false, None);
    runtime.block_on(async {
        let interrupted = worker::stop_signal()?;
        let connect = async {
            let connected = TemporalEngine::connect(settings.server).await;
            connected.map_err(|error| unreachable(&error))
        };
        commands::run(cli, parent_trace(&env), connect, output, interrupted).await
    })
}

/// Adds a hint to a connection error.
fn unreachable(error: &ConnectError) -> AppError {
    let app_error = AppError::failure(error_chain(error));
    match error {
        ConnectError::Unreachable { .. } => {
            app_error.with_hint("to try it out, start a server with `temporal server start-dev`")
        }
        _ => app_error,
    }
}
