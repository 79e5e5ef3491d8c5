//! Looks what is there.

use std::path::Path;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind};
use autonoe_process::{Ladder, LaunchError, Started};
use tokio::io::AsyncReadExt;

use crate::launch::{CodexOptions, bare_environment, furnish};

/// How long the program may take to say its version.
const LIMIT: Duration = Duration::from_secs(60);

/// The most that an answer is long. Who writes more is not listened to any longer.
const LONGEST: u64 = 4 * 1024;

/// Asks the program which version it is.
///
/// # Errors
///
/// It cannot be started, or is not Codex.
pub(crate) async fn version(options: &CodexOptions) -> Result<String, AgentError> {
    let place = furnish(options, &options.temporary, None)?;
    let environment = bare_environment(options, &place);
    let launch = place
        .launch(&options.program, &options.temporary)
        .arg("--version")
        .envs(environment);
    let Started {
        process,
        stdin,
        stdout,
    } = launch
        .start()
        .await
        .map_err(|error| unstartable(&options.program, error))?;
    drop(stdin);
    let mut said = Vec::new();
    let mut stdout = stdout.take(LONGEST);
    // Whatever was said until then is looked at.
    let _ = tokio::time::timeout(LIMIT, stdout.read_to_end(&mut said)).await;
    process.shut_down(Ladder::kill_at_once()).await;
    let said = String::from_utf8_lossy(&said);
    version_in(&said).map(str::to_owned).ok_or_else(|| {
        AgentError::new(
            AgentErrorKind::NotAvailable,
            format!("{:?} does not say that it is Codex", options.program),
        )
    })
}

/// Says why the program could not be started.
pub(crate) fn unstartable(program: &Path, error: LaunchError) -> AgentError {
    let message = format!("Codex cannot be started as {program:?}");
    AgentError::new(AgentErrorKind::NotAvailable, message).because(error)
}

fn version_in(said: &str) -> Option<&str> {
    let mut words = said.split_whitespace();
    let is_codex = words.next() == Some("codex-cli");
    words.next().filter(|_| is_codex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codex_has_a_version() {
        for (said, version) in [
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("codex 1.0", None),
            ("codex-cli", None),
            ("", None),
        ] {
            assert_eq!(version_in(said), version, "{said}");
        }
    }
}
