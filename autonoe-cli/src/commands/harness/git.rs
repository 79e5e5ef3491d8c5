//! Runs git for a fleet.

use autonoe_harness::FleetHome;
use autonoe_process::ProcessRunner;

use crate::cli_env::CliEnv;

/// Environment variables that git inherits.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Returns a runner for git with a minimal environment that contains no keys.
pub(super) fn git(home: &FleetHome, env: &CliEnv) -> ProcessRunner {
    let inherited = INHERITED.map(|name| Some((name, env.variable(name)?)));
    ProcessRunner::unconfined(home.project()).envs(inherited.into_iter().flatten())
}
