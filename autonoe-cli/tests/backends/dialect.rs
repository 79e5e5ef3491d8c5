//! `Dialect`, which translates calls of a script into the tool names of an agent.

use std::path::Path;

use autonoe_testkit::model_server::{PromptToolResult, ScriptedMessage, Turn};
use serde_json::{Value, json};

use crate::backends::run_script::{Call, Effect};

/// Tool names that a model uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The names of Claude Code, which our agent on models uses too.
    Claude,
    Codex,
    Gemini,
}

impl Dialect {
    /// Returns a model answer that makes these calls in parallel, in the project `root`.
    pub(crate) fn turn(self, calls: &[Call], root: &Path) -> Turn {
        let message = calls.iter().fold(ScriptedMessage::new(), |message, call| {
            self.add(message, call, root)
        });
        message.into()
    }

    fn add(self, message: ScriptedMessage, call: &Call, root: &Path) -> ScriptedMessage {
        let (tool, input) = match self {
            Self::Claude => claude(&call.effect, root),
            Self::Gemini => gemini(&call.effect, root),
            Self::Codex => match codex(&call.effect) {
                CodexCall::Function(tool, input) => (tool, input),
                CodexCall::Item(mut item) => {
                    item["id"] = format!("item_{}", call.id).into();
                    item["call_id"] = call.id.clone().into();
                    item["status"] = "completed".into();
                    return message.with_raw_block(item);
                }
            },
        };
        message.uses_tool_as(&call.id, tool, input)
    }

    /// Returns whether a result reports that its call failed or was denied.
    pub(crate) fn is_failure(self, result: &PromptToolResult) -> bool {
        match self {
            // Our agent on models reports the exit code of a failed command in the output.
            Self::Claude => result.is_error || result.text.contains("[exit code "),
            // The API has no flag for failures.
            Self::Codex => {
                let text = &result.text;
                let exited = text.split_once("Process exited with code ");
                let failed = exited.is_some_and(|(_, code)| !code.starts_with("0\n"));
                failed || text.contains("rejected") || text.contains("denied")
            }
            Self::Gemini => {
                let text = &result.text;
                result.is_error || text.contains("Exit Code: ") && !text.contains("Exit Code: 0")
            }
        }
    }
}

/// Returns a tool of Claude Code and its input.
fn claude(effect: &Effect, root: &Path) -> (String, Value) {
    match effect {
        Effect::Tool { name, input } => (format!("mcp__autonoe__{name}"), input.clone()),
        Effect::Write { file, text } => ("Write".to_owned(), written(root, file, text)),
        Effect::Edit { file, old, new } => ("Edit".to_owned(), edited(root, file, old, new)),
        Effect::Read { file } => ("Read".to_owned(), json!({"file_path": root.join(file)})),
        Effect::Command(command) => {
            let input = json!({"command": command, "description": "as the script says"});
            ("Bash".to_owned(), input)
        }
        Effect::Mcp {
            server,
            tool,
            input,
        } => (format!("mcp__{server}__{tool}"), input.clone()),
        Effect::Claude { tool, input } => ((*tool).to_owned(), input.clone()),
    }
}

/// Returns a tool of Gemini CLI and its input.
fn gemini(effect: &Effect, root: &Path) -> (String, Value) {
    match effect {
        Effect::Tool { name, input } => (format!("mcp_autonoe_{name}"), input.clone()),
        Effect::Write { file, text } => ("write_file".to_owned(), written(root, file, text)),
        Effect::Edit { file, old, new } => {
            let mut input = edited(root, file, old, new);
            input["instruction"] = "as the script says".into();
            ("replace".to_owned(), input)
        }
        Effect::Read { file } => {
            let input = json!({"file_path": root.join(file)});
            ("read_file".to_owned(), input)
        }
        Effect::Command(command) => {
            let input = json!({"command": command});
            ("run_shell_command".to_owned(), input)
        }
        Effect::Mcp {
            server,
            tool,
            input,
        } => (format!("mcp_{server}_{tool}"), input.clone()),
        Effect::Claude { tool, .. } => panic!("Gemini CLI has no tool {tool}"),
    }
}

/// A call of Codex.
enum CodexCall {
    /// A function and its arguments.
    Function(String, Value),
    /// An item of another shape, without its IDs.
    Item(Value),
}

fn codex(effect: &Effect) -> CodexCall {
    let patch = |lines: String| {
        let input = format!("*** Begin Patch\n{lines}*** End Patch\n");
        CodexCall::Item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": input}))
    };
    let in_namespace = |namespace: &str, tool: &str, input: &Value| {
        let arguments = input.to_string();
        CodexCall::Item(json!({
            "type": "function_call", "namespace": namespace, "name": tool, "arguments": arguments,
        }))
    };
    let shell = |command: &str| {
        // The longest time before Codex returns while the command still runs.
        let input = json!({"cmd": command, "yield_time_ms": 30_000});
        CodexCall::Function("exec_command".to_owned(), input)
    };
    match effect {
        Effect::Tool { name, input } => in_namespace("autonoe", name, input),
        Effect::Write { file, text } => {
            let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
            patch(format!("*** Add File: {file}\n{lines}"))
        }
        Effect::Edit { file, old, new } => {
            patch(format!("*** Update File: {file}\n@@\n-{old}\n+{new}\n"))
        }
        Effect::Read { file } => shell(&format!("cat '{file}'")),
        Effect::Command(command) => shell(command),
        Effect::Mcp {
            server,
            tool,
            input,
        } => in_namespace(&format!("mcp__{server}"), tool, input),
        Effect::Claude { tool, .. } => panic!("Codex has no tool {tool}"),
    }
}

fn written(root: &Path, file: &str, text: &str) -> Value {
    json!({"file_path": root.join(file), "content": text})
}

fn edited(root: &Path, file: &str, old: &str, new: &str) -> Value {
    json!({"file_path": root.join(file), "old_string": old, "new_string": new})
}
