//! Looks what is there.

mod ask;
mod login;
mod sandbox;
mod stranger;

use std::time::Duration;

use autonoe_core::AgentError;

use self::ask::{ask, numbers};
pub(crate) use self::login::not_logged_in;
pub use self::login::{Login, LoginCheck};
pub use self::sandbox::SandboxProblem;
pub(crate) use self::sandbox::sandbox_problem;
pub(crate) use self::stranger::{Manner, stranger};
use crate::launch::{ClaudeOptions, check_project_path};

/// The builds that the protocol was tried with, from the oldest to the newest.
const TESTED: [[u32; 3]; 2] = [[2, 1, 197], [2, 1, 325]];

/// How long the program may take to say its version.
const LIMIT: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Probe {
    /// The version of the program.
    pub version: String,
    /// Whether the protocol was tried with builds before and after it.
    pub is_tested: bool,
    /// Why the program cannot create its sandbox, if it cannot.
    pub sandbox_problem: Option<SandboxProblem>,
    /// Why the program cannot work in [`ClaudeOptions::directory`], if it cannot.
    pub directory_problem: Option<AgentError>,
    /// Whether the program has credentials, as far as it was asked.
    pub login: Login,
}

/// Queries the version and the login of the program, and checks its sandbox and the directory of
/// its sessions.
pub(crate) async fn probe(options: &ClaudeOptions) -> Result<Probe, AgentError> {
    let answer = ask(options, &["--version"], LIMIT).await?;
    let Some(numbers) = numbers(&answer) else {
        let manner = Manner::Version(&answer);
        return Err(stranger(&options.program, &manner));
    };
    let version = answer.said.split_whitespace().next().unwrap_or_default();
    let directory = options.directory.as_deref();
    Ok(Probe {
        version: version.to_owned(),
        is_tested: (TESTED[0]..=TESTED[1]).contains(&numbers),
        sandbox_problem: sandbox_problem(&options.environment).await,
        directory_problem: directory
            .and_then(|directory| check_project_path(directory, Some(numbers)).err()),
        login: login::probe_login(options).await,
    })
}
