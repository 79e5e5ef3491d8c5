//! [`ToolStatus`], the status of a finished tool call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Status of a finished tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// The tool ran and succeeded.
    Ok,
    /// The tool ran and failed.
    Error,
    /// The call was denied and did not run.
    Denied,
}
