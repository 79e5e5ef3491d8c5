//! Output of `autonoe harness send`, `pause`, `resume`, `stop` and `kill`.

use autonoe_harness::strategy::MemberId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Output of `autonoe harness send`, `pause`, `resume`, `stop` and `kill` with `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct HarnessRequest {
    /// The fleet.
    pub(super) fleet: String,
    /// The request: `send`, `pause`, `resume`, `stop` or `kill`.
    pub(super) action: &'static str,
    /// Whether the request was for the whole fleet, including members that were not started.
    pub(super) whole_fleet: bool,
    /// The members that received the request.
    pub(super) members: Vec<MemberId>,
    /// The number of the instruction, for `send`.
    pub(super) instruction: Option<u64>,
}

impl HarnessRequest {
    /// Prints the request as JSON, or `words` as text.
    pub(super) fn print(&self, json: bool, words: &str, env: &CliEnv) -> Result<(), CliError> {
        if json {
            env.print_json(self)
        } else {
            env.print(&format!("{words}\n"))
        }
    }
}
