//! Whatever happens to a session: no process of it is left, and no folder.

mod ends;
mod host_death;
mod start_failures;
mod start_of_others;

use autonoe_testkit::model_server::anthropic::{Script, Turn};
use serde_json::json;

use crate::build::Build;
use crate::setting::Setting;

/// A command that does not end by itself, and tells that it has begun.
const ENDLESS: &str = "echo 1 > begun; sleep 600";

/// A setting whose model uses one tool, with `command`.
fn running(build: Build, command: &str) -> Setting {
    let input = json!({"command": command, "description": "as the script says"});
    Setting::new(build, Script::new([Turn::tool("Bash", input)]))
}
