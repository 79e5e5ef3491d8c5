//! A tool call and how it ended.

use serde::{Deserialize, Serialize};

use crate::definition::ActionOutcome;

/// A tool call and how it ended. A denied call has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The name of the tool, in the backend's spelling.
    pub tool: String,
    /// How the call ended.
    pub outcome: ActionOutcome,
    /// The input as JSON, perhaps shortened. It is recorded for steps that a model judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The output that the agent received, perhaps shortened. It is recorded for steps that a model
    /// judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl ToolOutcome {
    /// Makes a call without its input and its output.
    pub fn new(tool: impl Into<String>, outcome: ActionOutcome) -> Self {
        Self {
            tool: tool.into(),
            outcome,
            input: None,
            output: None,
        }
    }
}
