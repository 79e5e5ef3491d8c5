//! [`Probe`] of Claude Code: version, login, sandbox and directory.

mod login;
mod not_claude_error;
mod sandbox;
mod short_answer;

use std::time::Duration;

use autonoe_core::AgentError;

pub(crate) use self::login::not_logged_in;
pub use self::login::{Login, LoginCheck};
pub(crate) use self::not_claude_error::{Mismatch, not_claude_error};
pub use self::sandbox::SandboxProblem;
pub(crate) use self::sandbox::sandbox_problem;
use self::short_answer::{run_for_answer, version_numbers};
use crate::launch::{ClaudeOptions, check_project_path};

/// The builds that the protocol was tested with, from the oldest to the newest.
const TESTED: [[u32; 3]; 2] = [[2, 1, 197], [2, 1, 325]];

/// Time limit for the program to print its version.
const LIMIT: Duration = Duration::from_secs(60);

/// Findings about the installed program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Probe {
    /// The version of the program.
    pub version: String,
    /// Whether the version is between the oldest and the newest tested build.
    pub is_tested: bool,
    /// Reason if the program cannot create its sandbox.
    pub sandbox_problem: Option<SandboxProblem>,
    /// Reason if the program cannot work in [`ClaudeOptions::directory`].
    pub directory_problem: Option<AgentError>,
    /// Whether the program has credentials, as far as it was probed.
    pub login: Login,
}

/// Queries the version and the login of the program, and checks its sandbox and the directory of
/// its sessions.
pub(crate) async fn probe(options: &ClaudeOptions) -> Result<Probe, AgentError> {
    let answer = run_for_answer(options, &["--version"], LIMIT).await?;
    let Some(numbers) = version_numbers(&answer) else {
        let manner = Mismatch::Version(&answer);
        return Err(not_claude_error(&options.program.path, &manner));
    };
    let version = answer.stdout.split_whitespace().next().unwrap_or_default();
    let directory = options.directory.as_deref();
    Ok(Probe {
        version: version.to_owned(),
        is_tested: (TESTED[0]..=TESTED[1]).contains(&numbers),
        sandbox_problem: sandbox_problem(&options.program.environment).await,
        directory_problem: directory
            .and_then(|directory| check_project_path(directory, Some(numbers)).err()),
        login: login::probe_login(options).await,
    })
}
