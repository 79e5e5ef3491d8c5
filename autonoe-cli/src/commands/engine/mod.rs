//! `autonoe submit` and `autonoe engine`: runs that an engine elsewhere drives.

mod again;
#[cfg(test)]
mod away;
mod journal_cursor;
mod journal_formatter;
mod lead;
mod logs;
mod place;
mod problem;
mod remote;
mod status;
mod submit;
mod trouble;
mod view_changes;
mod watching;

use std::process::ExitCode;

pub(crate) use self::submit::submit;
use crate::args::{EngineArgs, EngineCommand};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Watches and leads runs of an engine.
pub(crate) fn engine(args: &EngineArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let done = async {
        match &args.command {
            EngineCommand::Status(args) => status::status(args, surroundings).await,
            EngineCommand::Logs(args) => logs::logs(args, surroundings).await,
            EngineCommand::Pause(args) => lead::pause(args, surroundings).await,
            EngineCommand::Resume(args) => lead::resume(args, surroundings).await,
            EngineCommand::Say(args) => lead::say(args, surroundings).await,
            EngineCommand::Cancel(args) => lead::cancel(args, surroundings).await,
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    runtime.block_on(done)?;
    Ok(ExitCode::SUCCESS)
}
