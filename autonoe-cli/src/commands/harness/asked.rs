//! What was asked of members, for other programs.

use autonoe_harness::HarnessId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// What `autonoe harness send`, `pause`, `resume`, `stop` and `kill` print with `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct HarnessAsked {
    /// The fleet.
    pub(super) fleet: String,
    /// What was asked for: `send`, `pause`, `resume`, `stop` or `kill`.
    pub(super) action: &'static str,
    /// Whether the whole fleet was asked, also those of its members that were not started.
    pub(super) whole_fleet: bool,
    /// The members that were asked.
    pub(super) members: Vec<HarnessId>,
    /// The number of the instruction, for `send`.
    pub(super) instruction: Option<u64>,
}

impl HarnessAsked {
    /// Tells it, to programs or to people.
    pub(super) fn tell(
        &self,
        json: bool,
        words: &str,
        surroundings: &Surroundings,
    ) -> Result<(), CliError> {
        match json {
            true => surroundings.say_json(self),
            false => surroundings.say(&format!("{words}\n")),
        }
    }
}
