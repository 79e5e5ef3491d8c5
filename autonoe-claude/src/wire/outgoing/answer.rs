//! Answers to what the program asks.

use std::fmt;

use bytes::Bytes;
use serde_json::{Value, json};

impl OutgoingLine {
    /// Lets the call happen that a hook was asked about.
    ///
    /// No rule and no prompt of the program is asked any more.
    pub fn hook_allows(request_id: &str) -> Self {
        Self::success(
            request_id,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        )
    }

    /// Keeps the call from happening that a hook was asked about, and tells the agent why.
    ///
    /// This is the one form that all builds understand as just that: with
    /// `continue: false` the tool runs, or the whole session ends; a failure, or
    /// an answer of another shape, lets the tool run.
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
        let reason = quoted(reason);
        Self::success(
            request_id,
            &format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":{reason}}}}}"#
            ),
        )
    }

    /// Says that a hook took notice. Not for hooks that decide.
    pub fn hook_noted(request_id: &str) -> Self {
        Self::success(request_id, "{}")
    }

    /// Lets a tool be used, with `input`, which older builds insist on.
    pub fn tool_allowed(request_id: &str, input: &Value) -> Self {
        let answer = json!({"behavior": "allow", "updatedInput": input});
        Self::success(request_id, &answer.to_string())
    }

    /// Keeps a tool from being used, and tells the agent why.
    pub fn tool_denied(request_id: &str, reason: &str) -> Self {
        let answer = json!({"behavior": "deny", "message": reason});
        Self::success(request_id, &answer.to_string())
    }

    /// Answers an MCP message with `response`, a JSON-RPC message.
    pub fn mcp_response(request_id: &str, response: &Value) -> Self {
        Self::success(request_id, &format!(r#"{{"mcp_response":{response}}}"#))
    }

    /// Says that a question cannot be answered.
    ///
    /// Never for a question about a tool: a hook that fails is a hook that
    /// allowed. For questions that nobody knows.
    pub fn failure(request_id: &str, error: &str) -> Self {
        let (id, error) = (quoted(request_id), quoted(error));
        Self::from_json(format!(
            r#"{{"type":"control_response","response":{{"subtype":"error","request_id":{id},"error":{error}}}}}"#
        ))
    }

    /// Answers a question with `answer`, the text of a JSON object.
    fn success(request_id: &str, answer: &str) -> Self {
        let id = quoted(request_id);
        Self::from_json(format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{answer}}}}}"#
        ))
    }
}

/// Returns `text` as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// One whole line to send, its end included.
///
/// A line that is torn or no JSON ends the program, so there is no way to make
/// one: each function here makes one whole object on one line.
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
    /// Takes the text of one JSON object.
    pub(super) fn from_json(mut text: String) -> Self {
        debug_assert!(!text.contains('\n'), "{text}");
        text.push('\n');
        Self(Bytes::from(text))
    }

    pub(super) fn from_value(value: &Value) -> Self {
        Self::from_json(value.to_string())
    }

    /// Tells the agent `text`: a new turn, or a word in between if one is under way.
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
    fn answers_have_the_shapes_that_were_recorded() {
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
            (OutgoingLine::hook_noted(id), json!({})),
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
    fn a_failure_has_the_shape_that_was_recorded() {
        let line = OutgoingLine::failure("id", "callback exploded");

        assert_eq!(
            serde_json::from_slice::<Value>(line.as_bytes()).expect("JSON"),
            json!({"type": "control_response", "response": {
                "subtype": "error", "request_id": "id", "error": "callback exploded"
            }})
        );
    }
}
