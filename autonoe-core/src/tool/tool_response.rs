//! [`ToolResponse`], the result of a tool call as `{success, ..}` JSON.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::tool::ToolStatus;
use crate::tool::{ToolErrorCode, ToolExecution};

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
