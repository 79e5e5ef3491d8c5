//! Lifecycle of sessions: in all cases, no process and no folder is left.

mod host_death;
mod other_programs;
mod session_ends;
mod start_failures;

use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::Build;
use crate::fixture::Fixture;

/// A command that does not end, and signals its start.
const ENDLESS: &str = "echo 1 > begun; sleep 600";

/// Returns a fixture whose model uses one tool, with `command`.
fn running(build: Build, command: &str) -> Fixture {
    let input = json!({"command": command, "description": "as the script says"});
    Fixture::new(build, ModelScript::new([Turn::tool("Bash", input)]))
}
