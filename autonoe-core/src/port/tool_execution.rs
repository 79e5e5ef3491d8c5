//! What became of a tool call, for programs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ToolErrorCode;
use super::call_records::CallRecord;
use crate::domain::ToolStatus;
use crate::domain::duration::millis;

/// What became of a tool call, beside what the agent was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// How it ended.
    pub status: ToolStatus,
    /// What kind of error it met, where that is known: it always is with tools of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorCode>,
    /// How long it took, from the wish of the agent to the answer.
    #[serde(rename = "durationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// What a tool of ours did, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Details of a tool of ours, by its own names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Why the call failed, if that is known apart from what the agent was given.
    #[serde(skip)]
    pub(crate) message: Option<String>,
}

impl ToolExecution {
    /// Makes the execution of a call of which no more is known than how it ended.
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

    /// Adds what the tool itself reported. A call that the tool reported as failed failed, whatever the agent made of it.
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
