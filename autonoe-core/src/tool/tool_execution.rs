//! [`ToolExecution`], the machine-readable result of a tool call, with its status and its JSON response.

use std::time::Duration;

use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::time::millis;
use crate::tool::ToolErrorCode;
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

/// Result of a tool call, serialised as `{"success": true, "result": .., "message": ".."}` or
/// `{"success": false, "error": "CODE", "message": ".."}`. See [`ToolExecution::response`].
#[derive(Clone, Debug, PartialEq)]
pub enum ToolResponse<'a> {
    /// The call succeeded.
    Success {
        /// Output that the agent received: an object or a list if the text is one in JSON, else the
        /// text.
        result: Value,
        /// Title of the output, if one of Autonoe's own tools set one.
        message: &'a str,
    },
    /// The call failed or was denied.
    Failure {
        /// Error code; [`UNKNOWN`](ToolErrorCode::UNKNOWN) if a tool of the agent failed without
        /// one.
        error: ToolErrorCode,
        /// Reason for the failure.
        message: &'a str,
    },
}

impl ToolExecution {
    /// Returns the result of the call as `{success, ..}`; `output` is the text that the agent
    /// received.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use autonoe_core::tool::{ToolExecution, ToolStatus};
    /// use serde_json::json;
    ///
    /// let execution = ToolExecution::new(ToolStatus::Ok, Duration::from_millis(3));
    ///
    /// assert_eq!(
    ///     json!(execution.response(r#"{"quotient":3}"#)),
    ///     json!({"success": true, "result": {"quotient": 3}, "message": ""})
    /// );
    /// ```
    pub fn response<'a>(&'a self, output: &'a str) -> ToolResponse<'a> {
        if self.status == ToolStatus::Ok {
            return ToolResponse::Success {
                result: parse_output(output),
                message: &self.title,
            };
        }
        ToolResponse::Failure {
            error: self.error.clone().unwrap_or(ToolErrorCode::UNKNOWN),
            message: self.message.as_deref().unwrap_or(output),
        }
    }
}

impl ToolResponse<'_> {
    /// Returns whether the call succeeded.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success { .. })
    }
}

fn parse_output(output: &str) -> Value {
    let is_structured = output.trim_start().starts_with(['{', '[']);
    let value = is_structured.then(|| serde_json::from_str(output).ok());
    value.flatten().unwrap_or_else(|| output.into())
}

impl Serialize for ToolResponse<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolResponse", 3)?;
        fields.serialize_field("success", &self.is_success())?;
        match self {
            Self::Success { result, message } => {
                fields.serialize_field("result", result)?;
                fields.serialize_field("message", message)?;
            }
            Self::Failure { error, message } => {
                fields.serialize_field("error", error)?;
                fields.serialize_field("message", message)?;
            }
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn json(status: ToolStatus, output: &str, change: impl FnOnce(&mut ToolExecution)) -> String {
        let mut execution = ToolExecution::new(status, Duration::ZERO);
        change(&mut execution);
        serde_json::to_string(&execution.response(output)).expect("it serialises")
    }

    // Shows: framework/tools/tool-response-success-or-error, framework/tools/response-message
    #[test]
    fn responses_serialise_to_the_specified_json() {
        use ToolStatus::{Denied, Error, Ok};
        let none = |_: &mut ToolExecution| {};
        for (actual, expected) in [
            (
                json(Ok, "printed", |it| it.title = "Printed".to_owned()),
                r#"{"success":true,"result":"printed","message":"Printed"}"#,
            ),
            (
                json(Ok, r#"{"sum":3}"#, none),
                r#"{"success":true,"result":{"sum":3},"message":""}"#,
            ),
            (
                json(Ok, " [1,2]", none),
                r#"{"success":true,"result":[1,2],"message":""}"#,
            ),
            (
                json(Ok, "[no output]", none),
                r#"{"success":true,"result":"[no output]","message":""}"#,
            ),
            (
                json(Ok, "42", none),
                r#"{"success":true,"result":"42","message":""}"#,
            ),
            (
                json(Error, "NOT_FOUND: no such page", |it| {
                    it.error = Some(ToolErrorCode::NOT_FOUND);
                    it.message = Some("no such page".to_owned());
                }),
                r#"{"success":false,"error":"NOT_FOUND","message":"no such page"}"#,
            ),
            (
                json(Error, "exit code 1", none),
                r#"{"success":false,"error":"UNKNOWN","message":"exit code 1"}"#,
            ),
            (
                json(Denied, "not granted", none),
                r#"{"success":false,"error":"PERMISSION_DENIED","message":"not granted"}"#,
            ),
        ] {
            assert_eq!(actual, expected);
        }
    }
}
