//! [`ToolExecution`], the machine-readable result of a tool call.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::duration::millis;
use crate::tool::ToolErrorCode;
use crate::tool::ToolStatus;
use crate::tool::call_records::CallRecord;

/// Result of a tool call apart from the output that the agent received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Status at the end of the call.
    pub status: ToolStatus,
    /// Code of the error, if known. It is always known for Autonoe's own tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorCode>,
    /// Time from the request of the agent to the answer.
    #[serde(rename = "durationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// Title that one of Autonoe's own tools reported, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Details that one of Autonoe's own tools reported, in its own format.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Reason for the failure, if known separately from the output that the agent received.
    #[serde(skip)]
    pub(crate) message: Option<String>,
}

impl ToolExecution {
    /// Creates the result of a call of which only the status and the duration are known.
    pub fn new(status: ToolStatus, duration: Duration) -> Self {
        Self {
            status,
            error: (status == ToolStatus::Denied).then_some(ToolErrorCode::PERMISSION_DENIED),
            duration,
            title: String::new(),
            metadata: Map::new(),
            message: None,
        }
    }

    /// Adds the result that the tool itself reported. If the tool reported a failure, the call
    /// failed, even if the agent reports success.
    pub(crate) fn with_record(mut self, record: CallRecord) -> Self {
        if let Some(code) = record.error
            && self.status != ToolStatus::Denied
        {
            self.status = ToolStatus::Error;
            self.error = Some(code);
            self.message = record.message;
        }
        self.title = record.title;
        self.metadata = record.metadata;
        self
    }
}
