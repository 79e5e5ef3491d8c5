//! Converts commands, patches and tool calls to [`ToolCall`]s for the gate.

use std::path::PathBuf;

use autonoe_core::tool::Toolbox;
use autonoe_core::{SessionSpec, ToolCall, ToolKind};
use serde_json::{Value, json};

use crate::wire::{CommandItem, DynamicToolItem, FileChangeItem, Item, McpToolItem, bash_script};

/// The tool name of commands.
pub const SHELL: &str = "Bash";

/// The tool name of patches.
pub const EDIT: &str = "Edit";

/// Returns the tool call of an item in a session of `spec`, if the item is one.
pub fn tool_call(item: &Item, spec: &SessionSpec) -> Option<ToolCall> {
    match item {
        Item::Command(item) => Some(command_call(item, spec)),
        Item::FileChange(item) => Some(patch_call(item, spec)),
        Item::McpTool(item) => Some(mcp_call(item, spec)),
        Item::DynamicTool(item) => Some(dynamic_call(item, spec)),
        Item::Message(_) | Item::Reasoning(_) | Item::Other(_) => None,
    }
}

fn command_call(item: &CommandItem, spec: &SessionSpec) -> ToolCall {
    let script = bash_script(&item.command).unwrap_or_else(|| item.command.clone());
    let call = spec.tool_call(&item.id, SHELL, json!({"command": script}));
    match &item.cwd {
        Some(directory) => call.in_dir(directory),
        None => call,
    }
}

fn patch_call(item: &FileChangeItem, spec: &SessionSpec) -> ToolCall {
    let changes = item.changes.iter().map(|change| {
        let mut entry = json!({"path": change.path, "kind": change.kind.name, "diff": change.diff});
        if let Some(to) = &change.kind.move_path {
            entry["movePath"] = json!(to);
        }
        entry
    });
    let first = item.changes.first().map(|change| &change.path);
    let input = json!({"file_path": first, "changes": changes.collect::<Vec<_>>()});
    let paths: Vec<PathBuf> = item
        .changes
        .iter()
        .flat_map(|change| [Some(&change.path), change.kind.move_path.as_ref()])
        .flatten()
        .cloned()
        .collect();
    let kind = if paths.is_empty() {
        ToolKind::Malformed {
            reason: "the patch names no files".to_owned(),
        }
    } else {
        ToolKind::Write { paths }
    };
    spec.tool_call(&item.id, EDIT, input).with_kind(kind)
}

fn mcp_call(item: &McpToolItem, spec: &SessionSpec) -> ToolCall {
    let name = format!("mcp__{}__{}", item.server, item.tool);
    spec.tool_call(&item.id, name, item.arguments.clone())
}

fn dynamic_call(item: &DynamicToolItem, spec: &SessionSpec) -> ToolCall {
    let name = dynamic_name(item.namespace.as_deref(), &item.tool);
    spec.tool_call(&item.id, name, item.arguments.clone())
}

/// Returns the qualified name of one of our tools.
pub(crate) fn dynamic_name(namespace: Option<&str>, tool: &str) -> String {
    match namespace {
        Some(Toolbox::SERVER) => Toolbox::qualified_name(tool),
        Some(namespace) => format!("{namespace}.{tool}"),
        None => tool.to_owned(),
    }
}

/// Returns the definitions of our tools for the program.
pub(crate) fn tool_definitions(tools: &Toolbox) -> Vec<Value> {
    let tools: Vec<Value> = tools
        .definitions()
        .map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.input_schema,
            })
        })
        .collect();
    if tools.is_empty() {
        return Vec::new();
    }
    vec![json!({
        "type": "namespace",
        "name": Toolbox::SERVER,
        "description": "The tools of this run: deliverables and their status.",
        "tools": tools,
    })]
}
