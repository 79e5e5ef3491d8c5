//! Looks what is there.

mod ask;
mod login;
mod stranger;
mod version;

use std::ffi::OsStr;
use std::time::Duration;

use autonoe_core::AgentError;
use autonoe_process::find_program;

use self::ask::ask;
pub(crate) use self::login::not_logged_in;
pub use self::login::{Login, LoginCheck};
pub(crate) use self::stranger::{Manner, stranger};
use self::version::numbers;
use crate::launch::ClaudeOptions;

/// The builds that the protocol was tried with, from the oldest to the newest.
const TESTED: [[u32; 3]; 2] = [[2, 1, 197], [2, 1, 325]];

/// How long the program may take to say its version.
const LIMIT: Duration = Duration::from_secs(60);

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
    /// Whether the program has credentials, as far as it was asked.
    pub login: Login,
}

/// Asks the program which version it is and whether it is logged in, and looks for what its
/// sandbox needs.
pub(crate) async fn probe(options: &ClaudeOptions) -> Result<Probe, AgentError> {
    let answer = ask(options, &["--version"], LIMIT).await?;
    let Some(numbers) = numbers(&answer) else {
        let manner = Manner::Version(&answer);
        return Err(stranger(&options.program, &manner));
    };
    let version = answer.said.split_whitespace().next().unwrap_or_default();
    let path = options.environment.get(OsStr::new("PATH"));
    let missing = ["bwrap", "socat"].into_iter().filter(|program| {
        let found = path.and_then(|path| find_program(program, path));
        found.is_none()
    });
    Ok(Probe {
        version: version.to_owned(),
        is_tested: (TESTED[0]..=TESTED[1]).contains(&numbers),
        missing_for_sandbox: missing.map(str::to_owned).collect(),
        login: login::look(options).await,
    })
}
