//! What became of a tool call, for programs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ToolError, ToolErrorCode, ToolOutput};
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
        }
    }

    /// Adds what the tool itself said.
    pub(crate) fn with_record(mut self, record: CallRecord) -> Self {
        if self.status == ToolStatus::Error {
            self.error = record.error;
        }
        self.title = record.title;
        self.metadata = record.metadata;
        self
    }
}

/// What tools of ours said of their calls, until the agent's stream tells that those ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallRecords(Arc<Mutex<HashMap<String, CallRecord>>>);

/// What a tool of ours said of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallRecord {
    error: Option<ToolErrorCode>,
    title: String,
    metadata: Map<String, Value>,
}

impl CallRecords {
    pub(super) fn note(&self, call_id: &str, result: &Result<ToolOutput, ToolError>) {
        let record = match result {
            Ok(output) => CallRecord {
                error: None,
                title: output.title.clone(),
                metadata: output.metadata.clone(),
            },
            Err(error) => CallRecord {
                error: Some(error.code.clone()),
                ..CallRecord::default()
            },
        };
        self.lock().insert(call_id.to_owned(), record);
    }

    pub(crate) fn take(&self, call_id: &str) -> Option<CallRecord> {
        self.lock().remove(call_id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CallRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
