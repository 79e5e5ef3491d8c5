//! Output lines of the phases, in the format of the real program.

use serde_json::{Value, json};

pub(crate) const SESSION: &str = "1967e7e7-be24-4118-a802-02fe173d6a7d";
const TIME: &str = "2026-11-15T00:27:37.730Z";

/// Typical agent text: lines with quotes in them.
const WORDS: &str = "The function reads the \"status\" field and returns early when it is set.\n";

/// Returns three messages: a text of the agent, a tool call, and its result.
pub(crate) fn messages() -> [String; 3] {
    let text = WORDS.repeat(6);
    let output = WORDS.repeat(3);
    [
        assistant(&json!({"type": "text", "text": text})),
        assistant(&json!({
            "type": "tool_use", "name": "Bash", "id": "toolu_fake_bf3728408f84450b",
            "input": {"command": text, "description": "Show the tree"},
        })),
        line(&json!({
            "type": "user",
            "message": {"role": "user", "content": [{
                "tool_use_id": "toolu_fake_bf3728408f84450b", "type": "tool_result",
                "content": output, "is_error": false,
            }]},
            "parent_tool_use_id": null, "session_id": SESSION, "uuid": SESSION, "timestamp": TIME,
            "tool_use_result": {
                "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
            },
        })),
    ]
}

/// Returns the line before (`allowed`) or after (`allowed_warning`) the messages.
///
/// Every client reports this kind of line as a separate kind of event.
pub(crate) fn mark(status: &str) -> String {
    line(&json!({
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": status, "resetsAt": 1_794_713_549, "rateLimitType": "five_hour",
            "utilization": 0.92, "isUsingOverage": false,
        },
        "uuid": SESSION, "session_id": SESSION,
    }))
}

/// Returns the hook request for one use of Bash.
pub(crate) fn hook_question(request_id: &str, hook: &str, number: usize) -> String {
    let call = format!("toolu_fake_{number}");
    format!(
        concat!(
            r#"{{"type":"control_request","request_id":"{}","request":{{"#,
            r#""subtype":"hook_callback","callback_id":"{}","input":{{"session_id":"{}","#,
            r#""transcript_path":"/home/agent/.claude/projects/-srv-app/1967.jsonl","#,
            r#""cwd":"/srv/app","permission_mode":"default","hook_event_name":"PreToolUse","#,
            r#""tool_name":"Bash","tool_input":{{"command":"echo {}","description":"echo"}},"#,
            r#""tool_use_id":"{}"}},"tool_use_id":"{}"}}}}"#,
            "\n"
        ),
        request_id, hook, SESSION, number, call, call
    )
}

/// Returns a message for the MCP server of the client.
pub(crate) fn mcp(request_id: &str, message: &str) -> String {
    format!(
        concat!(
            r#"{{"type":"control_request","request_id":"{}","request":{{"#,
            r#""subtype":"mcp_message","server_name":"autonoe","message":{}}}}}"#,
            "\n"
        ),
        request_id, message
    )
}

/// Returns a call of the tool `echo` with `text`.
pub(crate) fn echo(number: usize, text: &str) -> String {
    format!(
        concat!(
            r#"{{"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{}"}},"#,
            r#""_meta":{{"claudecode/toolUseId":"toolu_echo_{}","progressToken":{}}}}},"#,
            r#""jsonrpc":"2.0","id":{}}}"#
        ),
        text, number, number, number
    )
}

/// Returns the end of the turn.
pub(crate) fn result() -> String {
    line(&json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1,
        "duration_api_ms": 1, "num_turns": 1, "result": "done", "stop_reason": "end_turn",
        "session_id": SESSION, "total_cost_usd": 0.001,
        "usage": {"input_tokens": 1, "output_tokens": 1}, "modelUsage": {},
        "permission_denials": [], "terminal_reason": "completed", "uuid": SESSION,
    }))
}

fn assistant(block: &Value) -> String {
    line(&json!({
        "type": "assistant",
        "message": {
            "id": "msg_fake_31a914043ed24ee8", "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [block],
            "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": 100, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "output_tokens": 1, "service_tier": "standard",
            },
        },
        "parent_tool_use_id": null, "session_id": SESSION, "uuid": SESSION, "timestamp": TIME,
    }))
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}
