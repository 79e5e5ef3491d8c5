//! Runs the program for one short answer.

use std::time::Duration;

use autonoe_core::AgentError;
use autonoe_process::{Ladder, Started};
use tokio::io::AsyncReadExt;

use super::stranger::{Manner, stranger};
use crate::launch::{ClaudeOptions, Folders, bare_environment, furnish};
use crate::outcome::Exit;

/// How long a program that closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// The most that an answer is long. Who writes more is not listened to any longer.
const LONGEST: u64 = 16 * 1024;

/// What a program answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What it wrote to its standard output, as far as it was read.
    pub(crate) said: String,
    /// The end of what it wrote to its standard error.
    pub(crate) stderr: String,
    /// How it came to its end.
    pub(crate) end: End,
}

/// How an answer came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// The program ended.
    Exited(Exit),
    /// It did not end in time, and was killed.
    #[default]
    TookTooLong,
    /// It did not stop to write, and was killed.
    WroteTooMuch,
}

/// Runs the program with `arguments`, for at most `limit`, and returns what came of it.
///
/// # Errors
///
/// It cannot be started.
pub(super) async fn ask(
    options: &ClaudeOptions,
    arguments: &[&str],
    limit: Duration,
) -> Result<Answer, AgentError> {
    let place = furnish(options)?;
    let environment = bare_environment(options, Folders::new(&place));
    let launch = place
        .launch(&options.program, &options.temporary)
        .args(arguments.iter().copied())
        .envs(environment);
    let Started {
        process,
        stdin,
        stdout,
    } = launch
        .start()
        .await
        .map_err(|error| stranger(&options.program, &Manner::Unstartable(&error)))?;
    drop(stdin);
    let mut said = Vec::new();
    let mut stdout = stdout.take(LONGEST);
    let end = match tokio::time::timeout(limit, stdout.read_to_end(&mut said)).await {
        Err(_elapsed) => End::TookTooLong,
        Ok(_) if said.len() as u64 == LONGEST => End::WroteTooMuch,
        Ok(_) => match tokio::time::timeout(LAST_BREATH, process.exited()).await {
            Ok(exit) => End::Exited(exit.into()),
            Err(_elapsed) => End::TookTooLong,
        },
    };
    let stderr = process.stderr_tail();
    process.shut_down(Ladder::kill_at_once()).await;
    Ok(Answer {
        said: String::from_utf8_lossy(&said).trim().to_owned(),
        stderr,
        end,
    })
}
