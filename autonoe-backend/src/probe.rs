//! Capabilities of backends around a vendor's program, and probes of that program.

use std::path::Path;
use std::time::Duration;

use autonoe_core::Capabilities;
use autonoe_core::agent::{ProbeFinding, Support};
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
    let mut output = Vec::new();
    let mut stdout = stdout.take(LONGEST);
    let end = match tokio::time::timeout(limit, stdout.read_to_end(&mut output)).await {
        Err(_elapsed) => AnswerEnd::TimedOut,
        Ok(_) if output.len() as u64 == LONGEST => AnswerEnd::TooMuchOutput,
        Ok(_) => wait_for_exit(&process)
            .await
            .map_or(AnswerEnd::TimedOut, AnswerEnd::Exited),
    };
    let stderr = process.stderr_tail();
    process.shutdown(ShutdownPolicy::kill_at_once()).await;
    Ok(ShortAnswer {
        stdout: String::from_utf8_lossy(&output).trim().to_owned(),
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

/// The remedy for [`SessionField::Sandbox`] of a backend that has no sandbox of its own and can
/// bypass the gate: it must not run without a sandbox.
///
/// [`SessionField::Sandbox`]: autonoe_core::agent::SessionField::Sandbox
pub const OUTER_SANDBOX_REMEDY: &str =
    "run it in an outer sandbox, with OuterSandbox::bubblewrap()";

/// Returns the capabilities of a backend around the program of a vendor whose protocol has all of
/// these: sessions choose model, system prompt, thinking, turns and MCP servers, the agent calls our
/// tools in-process and can be steered, and the vendor reports when a spent quota resets. [`SandboxConfig`]
/// start the program in bubblewrap.
///
/// The backend adds what differs: hooks, its own sandbox, cost, tokens, project memory, resume and
/// events.
///
/// ```
/// use autonoe_backend::program_claims;
/// use autonoe_core::agent::{HookCoverage, SessionField};
///
/// let claims = program_claims("my-agent").with_hooks(HookCoverage::EveryTool);
///
/// assert!(claims.require([SessionField::Model, SessionField::McpServers]).is_ok());
/// assert!(claims.require([SessionField::Resume]).is_err());
/// ```
///
/// [`SandboxConfig`]: crate::SandboxConfig
pub fn program_claims(backend: impl Into<String>) -> Capabilities {
    Capabilities::new(backend)
        .with_outer_sandbox(Support::Yes)
        .with_quota_reset(Support::Yes)
        .with_model(Support::Yes)
        .with_system_prompt(Support::Yes)
        .with_thinking(Support::Yes)
        .with_max_turns(Support::Yes)
        .with_mcp_servers(Support::Yes)
        .with_in_process_tools(Support::Yes)
        .with_steering(Support::Yes)
}
