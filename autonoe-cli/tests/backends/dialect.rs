//! Decisions in the words in which a model calls the tools of an agent.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_testkit::model_server::{Message, Turn};
use serde_json::{Value, json};

use crate::backends::story::{Call, What};

/// Whose names of tools a model uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Those of Claude Code, which our agent on models has too.
    Claude,
    Codex,
    Gemini,
}

impl Dialect {
    /// Returns what a model answers that makes these calls at once, in the project `root`.
    pub(crate) fn turn(self, calls: &[Call], root: &Path) -> Turn {
        let message = calls.iter().fold(Message::new(), |message, call| {
            self.add(message, &call.what, root)
        });
        message.into()
    }

    fn add(self, message: Message, what: &What, root: &Path) -> Message {
        match (self, what) {
            (Self::Claude, What::Tool { name, input }) => {
                message.uses_tool(format!("mcp__autonoe__{name}"), input.clone())
            }
            (Self::Claude, What::Write { file, text }) => {
                message.uses_tool("Write", written(root, file, text))
            }
            (Self::Claude, What::Command(command)) => {
                let input = json!({"command": command, "description": "as the script says"});
                message.uses_tool("Bash", input)
            }
            (Self::Codex, What::Tool { name, input }) => {
                let input = input.to_string();
                let call = json!({"namespace": "autonoe", "name": name, "arguments": input});
                raw(message, "function_call", call)
            }
            (Self::Codex, What::Write { file, text }) => {
                let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
                let patch =
                    format!("*** Begin Patch\n*** Add File: {file}\n{lines}*** End Patch\n");
                let call = json!({"name": "apply_patch", "input": patch});
                raw(message, "custom_tool_call", call)
            }
            (Self::Codex, What::Command(command)) => {
                message.uses_tool("exec_command", json!({"cmd": command}))
            }
            (Self::Gemini, What::Tool { name, input }) => {
                message.uses_tool(format!("mcp_autonoe_{name}"), input.clone())
            }
            (Self::Gemini, What::Write { file, text }) => {
                message.uses_tool("write_file", written(root, file, text))
            }
            (Self::Gemini, What::Command(command)) => {
                message.uses_tool("run_shell_command", json!({"command": command}))
            }
        }
    }
}

fn written(root: &Path, file: &str, text: &str) -> Value {
    json!({"file_path": root.join(file), "content": text})
}

/// Adds an item that only Codex has words for.
fn raw(message: Message, kind: &str, mut call: Value) -> Message {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    call["type"] = kind.into();
    call["id"] = format!("item_{number}").into();
    call["call_id"] = format!("call_item_{number}").into();
    call["status"] = "completed".into();
    message.with_raw_block(call)
}
