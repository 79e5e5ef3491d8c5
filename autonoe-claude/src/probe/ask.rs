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

/// Returns the numbers of the version, if the answer is one that Claude Code would give.
pub(super) fn numbers(answer: &Answer) -> Option<[u32; 3]> {
    let ended_well = answer.end == End::Exited(Exit::Code(0));
    // Many a program says three numbers for its version.
    let is_its_own = answer.said.to_lowercase().contains("claude");
    if !ended_well || !is_its_own {
        return None;
    }
    let word = answer.said.split_whitespace().next()?;
    let mut parts = word.split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers_of_claude_code() {
        let well = End::Exited(Exit::Code(0));
        for (said, end, found) in [
            ("2.1.197 (Claude Code)", well, Some([2, 1, 197])),
            ("2.1 (Claude Code)", well, None),
            ("v2.1.3 (Claude Code)", well, None),
            ("10.2.3", well, None),
            ("", well, None),
            ("2.1.197 (Claude Code)", End::Exited(Exit::Code(1)), None),
            ("2.1.197 (Claude Code)", End::Exited(Exit::Signal(9)), None),
            ("2.1.197 (Claude Code)", End::TookTooLong, None),
            ("2.1.197 (Claude Code)", End::WroteTooMuch, None),
        ] {
            let answer = Answer {
                said: said.to_owned(),
                stderr: String::new(),
                end,
            };
            assert_eq!(numbers(&answer), found, "{said:?} {end:?}");
        }
    }
}
