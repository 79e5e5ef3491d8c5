//! Messages of the host: [`OutgoingLine`]s, answers and requests.

mod request;

use std::fmt;

use bytes::Bytes;
use serde_json::{Value, json};

pub use request::{HookMatcher, Initialize, OnHookFailure, Request};

impl OutgoingLine {
    /// Allows the call of a hook request.
    ///
    /// The program then applies neither its own rules nor its own prompts.
    pub fn hook_allows(request_id: &str) -> Self {
        Self::success(
            request_id,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        )
    }

    /// Denies the call of a hook request, with a reason for the agent.
    ///
    /// All builds treat only this form as a plain denial: with `continue: false` the tool runs, or
    /// the whole session ends; after an error, or an answer in another format, the tool runs.
    ///
    /// ```
    /// use autonoe_claude::wire::OutgoingLine;
    ///
    /// let line = OutgoingLine::hook_denies("d7ce", "rm is not allowed");
    ///
    /// let sent: serde_json::Value = serde_json::from_slice(line.as_bytes())?;
    /// assert_eq!(
    ///     sent["response"]["response"]["hookSpecificOutput"],
    ///     serde_json::json!({
    ///         "hookEventName": "PreToolUse",
    ///         "permissionDecision": "deny",
    ///         "permissionDecisionReason": "rm is not allowed",
    ///     })
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn hook_denies(request_id: &str, reason: &str) -> Self {
        let reason = json_string(reason);
        Self::success(
            request_id,
            &format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":{reason}}}}}"#
            ),
        )
    }

    /// Acknowledges a hook request. Not for hooks that decide.
    pub fn hook_acknowledges(request_id: &str) -> Self {
        Self::success(request_id, "{}")
    }

    /// Allows a tool with `input`, which older builds require.
    pub fn tool_allowed(request_id: &str, input: &Value) -> Self {
        let answer = json!({"behavior": "allow", "updatedInput": input});
        Self::success(request_id, &answer.to_string())
    }

    /// Denies a tool, with a reason for the agent.
    pub fn tool_denied(request_id: &str, reason: &str) -> Self {
        let answer = json!({"behavior": "deny", "message": reason});
        Self::success(request_id, &answer.to_string())
    }

    /// Answers an MCP message with `response`, a JSON-RPC message.
    pub fn mcp_response(request_id: &str, response: &Value) -> Self {
        Self::success(request_id, &format!(r#"{{"mcp_response":{response}}}"#))
    }

    /// Answers that a request cannot be handled.
    ///
    /// Do not use it for a request about a tool: the program treats a failed hook as an approval.
    /// It is for unknown requests.
    pub fn failure(request_id: &str, error: &str) -> Self {
        let (id, error) = (json_string(request_id), json_string(error));
        Self::from_json(format!(
            r#"{{"type":"control_response","response":{{"subtype":"error","request_id":{id},"error":{error}}}}}"#
        ))
    }

    /// Answers a request with `answer`, the text of a JSON object.
    fn success(request_id: &str, answer: &str) -> Self {
        let id = json_string(request_id);
        Self::from_json(format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{answer}}}}}"#
        ))
    }
}

/// Returns `text` as a JSON string.
fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// One whole line to send, including its line feed.
///
/// A torn line, or one that is not JSON, ends the program. So this type cannot hold one: each
/// constructor creates one whole object on one line.
///
/// ```
/// use autonoe_claude::wire::OutgoingLine;
///
/// let line = OutgoingLine::prompt("go\non");
///
/// assert!(line.as_bytes().ends_with(b"}\n"));
/// assert_eq!(line.as_bytes().iter().filter(|byte| **byte == b'\n').count(), 1);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingLine(Bytes);

impl OutgoingLine {
    /// Creates a line from the text of one JSON object.
    fn from_json(mut text: String) -> Self {
        debug_assert!(!text.contains('\n'), "{text}");
        text.push('\n');
        Self(Bytes::from(text))
    }

    fn from_value(value: &Value) -> Self {
        Self::from_json(value.to_string())
    }

    /// Sends `text` to the agent: it starts a new turn, or steers the running one.
    pub fn prompt(text: &str) -> Self {
        Self::from_value(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "session_id": "",
        }))
    }

    /// Returns the bytes to write, all at once.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes to write.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl AsRef<[u8]> for OutgoingLine {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for OutgoingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutgoingLine").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &OutgoingLine) -> Value {
        let mut sent: Value = serde_json::from_slice(line.as_bytes()).expect("JSON");
        assert_eq!(sent["type"], "control_response");
        assert_eq!(sent["response"]["subtype"], "success");
        assert_eq!(sent["response"]["request_id"], "id \"1\"\n");
        sent["response"]["response"].take()
    }

    #[test]
    fn answers_have_the_recorded_formats() {
        let id = "id \"1\"\n";
        for (line, expected) in [
            (
                OutgoingLine::hook_allows(id),
                json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse", "permissionDecision": "allow"
                }}),
            ),
            (
                OutgoingLine::hook_denies(id, "no\n\"way\""),
                json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no\n\"way\"",
                }}),
            ),
            (OutgoingLine::hook_acknowledges(id), json!({})),
            (
                OutgoingLine::tool_allowed(id, &json!({"command": "ls"})),
                json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
            ),
            (
                OutgoingLine::tool_denied(id, "no"),
                json!({"behavior": "deny", "message": "no"}),
            ),
            (
                OutgoingLine::mcp_response(id, &json!({"jsonrpc": "2.0", "id": 1, "result": {}})),
                json!({"mcp_response": {"jsonrpc": "2.0", "id": 1, "result": {}}}),
            ),
        ] {
            assert_eq!(answer(&line), expected);
        }
    }

    #[test]
    fn a_failure_has_the_recorded_format() {
        let line = OutgoingLine::failure("id", "callback exploded");

        assert_eq!(
            serde_json::from_slice::<Value>(line.as_bytes()).expect("JSON"),
            json!({"type": "control_response", "response": {
                "subtype": "error", "request_id": "id", "error": "callback exploded"
            }})
        );
    }
}
