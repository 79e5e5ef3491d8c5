//! Probes of a program: its short answer to a command line, and the finding about its version.

use std::path::Path;
use std::time::Duration;

use autonoe_core::agent::ProbeFinding;
use autonoe_process::{Exit, Launch, LaunchError, ShutdownPolicy, StartedProcess};
use tokio::io::AsyncReadExt;

use crate::session::wait_for_exit;

/// The longest answer in bytes. A program that writes more is killed.
const LONGEST: u64 = 16 * 1024;

/// The answer of a program that runs only for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShortAnswer {
    /// Its standard output, without blanks around it.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
    /// Its outcome.
    pub end: AnswerEnd,
}

/// Exit of the program of a [`ShortAnswer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerEnd {
    /// It exited.
    Exited(Exit),
    /// It did not exit in time, and was killed.
    #[default]
    TimedOut,
    /// It wrote too much, and was killed.
    TooMuchOutput,
}

/// Runs a program without input for at most `limit`, and returns its answer.
///
/// # Errors
///
/// The program cannot be started.
pub async fn short_answer(launch: Launch, limit: Duration) -> Result<ShortAnswer, LaunchError> {
    let StartedProcess {
        process,
        stdin,
        stdout,
    } = launch.start().await?;
    drop(stdin);
    let mut said = Vec::new();
    let mut stdout = stdout.take(LONGEST);
    let end = match tokio::time::timeout(limit, stdout.read_to_end(&mut said)).await {
        Err(_elapsed) => AnswerEnd::TimedOut,
        Ok(_) if said.len() as u64 == LONGEST => AnswerEnd::TooMuchOutput,
        Ok(_) => wait_for_exit(&process)
            .await
            .map_or(AnswerEnd::TimedOut, AnswerEnd::Exited),
    };
    let stderr = process.stderr_tail();
    process.shutdown(ShutdownPolicy::kill_at_once()).await;
    Ok(ShortAnswer {
        stdout: String::from_utf8_lossy(&said).trim().to_owned(),
        stderr,
        end,
    })
}

/// Reports the version of a program. One that was not tested is a warning with `remedy`.
pub fn version_finding(
    name: &str,
    program: &Path,
    version: &str,
    is_tested: bool,
    remedy: impl Into<String>,
) -> ProbeFinding {
    let found = format!("{}, version {version}", program.display());
    if is_tested {
        ProbeFinding::good(name, found)
    } else {
        let found = format!("{found}, which Autonoe was not tested with");
        ProbeFinding::warning(name, found, remedy)
    }
}
