//! Probe of the version of Codex.

use std::path::Path;
use std::time::Duration;

use autonoe_backend::short_answer;
use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_process::LaunchError;

use crate::launch::{CodexOptions, bare_environment, create_session_directory};

/// Time limit for the program to print its version.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the version of the program.
///
/// # Errors
///
/// The program cannot be started, or is not Codex.
pub(crate) async fn version(options: &CodexOptions) -> Result<String, AgentError> {
    let place = create_session_directory(options, &options.program.temporary, None)?;
    let environment = bare_environment(options, &place);
    let launch = place
        .launch(&options.program.path, &options.program.temporary)
        .arg("--version")
        .envs(environment);
    let answer = short_answer(launch, LIMIT).await;
    // The answer counts even if the program did not exit in time.
    let said = answer
        .map_err(|error| launch_error(&options.program.path, error))?
        .stdout;
    version_in(&said).map(str::to_owned).ok_or_else(|| {
        AgentError::new(
            AgentErrorKind::NotAvailable,
            format!(
                "{:?} does not identify itself as Codex",
                options.program.path
            ),
        )
    })
}

/// Converts a launch failure to an error.
pub(crate) fn launch_error(program: &Path, error: LaunchError) -> AgentError {
    let message = format!("Codex cannot be started as {program:?}");
    AgentError::new(AgentErrorKind::NotAvailable, message).with_source(error)
}

fn version_in(output: &str) -> Option<&str> {
    let mut words = output.split_whitespace();
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
