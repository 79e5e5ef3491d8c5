//! Turns of the scripted model.

use autonoe_testkit::model_server::{ScriptedMessage, Turn};
use serde_json::{Value, json};

/// Returns a turn that runs a command.
pub(crate) fn shell(command: &str) -> Turn {
    Turn::tool("exec_command", json!({"cmd": command}))
}

/// Adds a call of one of our tools, or of an MCP server's tool, to a message.
pub(crate) fn calls(
    message: ScriptedMessage,
    namespace: &str,
    tool: &str,
    input: &Value,
) -> ScriptedMessage {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    message.with_raw_block(json!({
        "type": "function_call",
        "id": format!("fc_raw_{number}"),
        "call_id": format!("call_raw_{number}"),
        "status": "completed",
        "namespace": namespace,
        "name": tool,
        "arguments": input.to_string(),
    }))
}

/// Returns a turn that calls one of our tools.
pub(crate) fn autonoe_tool_call(tool: &str, input: &Value) -> Turn {
    calls(ScriptedMessage::new(), "autonoe", tool, input).into()
}

/// Returns a turn that applies a patch which adds a file.
pub(crate) fn adds(file: &str, line: &str) -> Turn {
    patch(&format!(
        "*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n"
    ))
}

/// Returns a turn that applies a patch.
pub(crate) fn patch(text: &str) -> Turn {
    ScriptedMessage::new()
        .with_raw_block(json!({
            "type": "custom_tool_call",
            "id": "ctc_patch",
            "call_id": format!("call_patch_{}", text.len()),
            "status": "completed",
            "name": "apply_patch",
            "input": text,
        }))
        .into()
}
