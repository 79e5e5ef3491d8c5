//! Messages of the host: [`OutgoingLine`]s, answers and requests.

use std::fmt;

use bytes::Bytes;
use serde_json::{Value, json};

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

/// A request of the host to the program.
///
/// ```
/// use autonoe_claude::wire::Request;
/// use serde_json::{Value, json};
///
/// let line = Request::Interrupt.to_line("req_1");
///
/// let sent: Value = serde_json::from_slice(line.as_bytes())?;
/// assert_eq!(sent, json!({
///     "type": "control_request",
///     "request_id": "req_1",
///     "request": {"subtype": "interrupt"},
/// }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Initializes the session with a hook that receives every call.
    ///
    /// If the hook fails or does not answer in time, newer builds block the call.
    Initialize {
        /// The time limit of the hook in seconds.
        hook_seconds: u32,
        /// Our MCP servers, which are served over the control protocol.
        sdk_mcp_servers: Vec<String>,
    },
    /// Stops the turn. The program keeps running.
    Interrupt,
    /// Ends the session: running work is stopped, and the program exits.
    EndSession,
    /// Queries the status of the MCP servers.
    McpStatus,
    /// Queries the settings in force.
    GetSettings,
}

impl Request {
    /// Builds the line of the request. The id must be unique.
    pub fn to_line(&self, request_id: &str) -> OutgoingLine {
        OutgoingLine::from_value(&json!({
            "type": "control_request",
            "request_id": request_id,
            "request": self.body(),
        }))
    }

    fn body(&self) -> Value {
        match self {
            Self::Initialize {
                hook_seconds,
                sdk_mcp_servers,
            } => {
                let hook = json!({
                    "matcher": null,
                    "hookCallbackIds": ["gate"],
                    "timeout": hook_seconds,
                    "onFailure": "block",
                });
                let mut body = json!({"subtype": "initialize", "hooks": {"PreToolUse": [hook]}});
                if !sdk_mcp_servers.is_empty() {
                    body["sdkMcpServers"] = json!(sdk_mcp_servers);
                }
                body
            }
            Self::Interrupt => json!({"subtype": "interrupt"}),
            Self::EndSession => json!({"subtype": "end_session"}),
            Self::McpStatus => json!({"subtype": "mcp_status"}),
            Self::GetSettings => json!({"subtype": "get_settings"}),
        }
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

    fn sent(request: &Request) -> Value {
        serde_json::from_slice(request.to_line("req_1").as_bytes()).expect("JSON")
    }

    #[test]
    fn initialize_has_the_recorded_format() {
        let initialize = |sdk_mcp_servers| Request::Initialize {
            hook_seconds: 30,
            sdk_mcp_servers,
        };

        let mut sent_request = sent(&initialize(vec!["autonoe".into()]));
        assert_eq!(
            sent_request,
            json!({"type": "control_request", "request_id": "req_1", "request": {
                "subtype": "initialize",
                "hooks": {"PreToolUse": [{
                    "matcher": null, "hookCallbackIds": ["gate"], "timeout": 30, "onFailure": "block"
                }]},
                "sdkMcpServers": ["autonoe"],
            }})
        );
        let body = sent_request["request"].as_object_mut().expect("an object");
        body.remove("sdkMcpServers");
        assert_eq!(sent(&initialize(Vec::new())), sent_request);
    }

    #[test]
    fn other_requests_have_the_recorded_formats() {
        for (request, expected) in [
            (Request::Interrupt, json!({"subtype": "interrupt"})),
            (Request::EndSession, json!({"subtype": "end_session"})),
            (Request::McpStatus, json!({"subtype": "mcp_status"})),
            (Request::GetSettings, json!({"subtype": "get_settings"})),
        ] {
            assert_eq!(sent(&request)["request"], expected);
        }
    }
}
