//! Looks what is there.

use std::ffi::OsStr;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind};
use autonoe_process::{Ladder, Launch, Started, find_program};
use tokio::io::AsyncReadExt;

use crate::launch::{ClaudeOptions, folder_and_marker};

/// The builds that the protocol was tried with, from the oldest to the newest.
const TESTED: [[u32; 3]; 2] = [[2, 1, 197], [2, 1, 325]];

/// How long the program may take to say its version.
const LIMIT: Duration = Duration::from_secs(60);

/// The most that a version is long.
const LONGEST: u64 = 4096;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// The version of the program.
    pub version: String,
    /// Whether the protocol was tried with builds before and after it.
    pub is_tested: bool,
    /// Programs that the sandbox needs and that are not there.
    pub missing_for_sandbox: Vec<String>,
}

/// Asks the program which version it is, and looks for what its sandbox needs.
pub(crate) async fn probe(options: &ClaudeOptions) -> Result<Probe, AgentError> {
    let said = tokio::time::timeout(LIMIT, version(options))
        .await
        .map_err(|_elapsed| unavailable(options, "it did not say its version"))??;
    let Some(numbers) = numbers(&said) else {
        return Err(unavailable(
            options,
            &format!("it said {said:?} for its version"),
        ));
    };
    let version = said.split_whitespace().next().unwrap_or_default();
    let path = options.environment.get(OsStr::new("PATH"));
    let missing = ["bwrap", "socat"].into_iter().filter(|program| {
        let found = path.and_then(|path| find_program(program, path));
        found.is_none()
    });
    Ok(Probe {
        version: version.to_owned(),
        is_tested: (TESTED[0]..=TESTED[1]).contains(&numbers),
        missing_for_sandbox: missing.map(str::to_owned).collect(),
    })
}

async fn version(options: &ClaudeOptions) -> Result<String, AgentError> {
    let (folder, marker) = folder_and_marker(options)?;
    let launch = Launch::new(&options.program, &options.temporary, marker)
        .arg("--version")
        .envs(options.environment.clone())
        .folder(folder);
    let Started {
        process,
        stdin,
        stdout,
    } = launch
        .start()
        .await
        .map_err(|error| unavailable(options, &error.to_string()))?;
    drop(stdin);
    let mut said = String::new();
    let read = stdout.take(LONGEST).read_to_string(&mut said).await;
    process.shut_down(Ladder::kill_at_once()).await;
    read.map_err(|error| unavailable(options, &error.to_string()))?;
    Ok(said.trim().to_owned())
}

fn numbers(version: &str) -> Option<[u32; 3]> {
    let word = version.split_whitespace().next()?;
    let mut parts = word.split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

fn unavailable(options: &ClaudeOptions, why: &str) -> AgentError {
    AgentError::new(
        AgentErrorKind::NotAvailable,
        format!("{:?} cannot be used as Claude Code: {why}", options.program),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers() {
        assert_eq!(numbers("2.1.197 (Claude Code)"), Some([2, 1, 197]));
        assert_eq!(numbers("2.1"), None);
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("v2.1.3"), None);
    }
}
