//! What a scripted agent does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Mishap, ToolUse, TurnEnd};

/// One thing that a scripted agent, or the program around it, does in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// The agent says something.
    Says(String),
    /// The agent thinks.
    Thinks(String),
    /// The agent calls tools, all in one message.
    ///
    /// They are carried out one after the other, except that calls of MCP tools that only
    /// read go out together.
    Uses(Vec<ToolUse>),
    /// The program tells how the limits of the subscription are.
    RateLimit {
        /// `allowed`, `allowed_warning` or `rejected`.
        status: String,
        /// When they come back, in seconds since 1970.
        resets_at: Option<i64>,
        /// Which limit, for example `five_hour`.
        claim: Option<String>,
    },
    /// The program calls the model again, after a failure.
    Retries {
        /// Which attempt it is.
        attempt: u32,
        /// The status of the failure.
        status: Option<u16>,
        /// Its name, for example `overloaded`.
        error: String,
    },
    /// Nothing happens for a while.
    Waits {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// Nothing happens until the turn is interrupted.
    Hangs,
    /// A line is sent as it is here, with the id of the session if it has none.
    Sends(Value),
    /// Something goes wrong.
    Breaks(Mishap),
    /// The turn ends. A turn without this step ends as completed after its last one.
    Ends(TurnEnd),
}
