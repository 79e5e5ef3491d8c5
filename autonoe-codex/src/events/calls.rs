//! Commands, patches and calls as the gate knows them.

use std::path::PathBuf;

use autonoe_core::{SessionSpec, ToolCall, ToolKind, Toolbox};
use serde_json::{Value, json};

use crate::wire::{CommandItem, DynamicToolItem, FileChangeItem, Item, McpToolItem, script_of};

/// The name that commands go by.
pub const SHELL: &str = "Bash";

/// The name that patches go by.
pub const EDIT: &str = "Edit";

/// Returns the call that an item is, if it is one, in a session of `spec`.
pub fn call_of(item: &Item, spec: &SessionSpec) -> Option<ToolCall> {
    match item {
        Item::Command(item) => Some(of_command(item, spec)),
        Item::FileChange(item) => Some(of_patch(item, spec)),
        Item::McpTool(item) => Some(of_mcp(item, spec)),
        Item::DynamicTool(item) => Some(of_dynamic(item, spec)),
        Item::Message(_) | Item::Reasoning(_) | Item::Other(_) => None,
    }
}

/// Returns the id of the call that an item is, if it is one.
pub(super) fn id_of_call(item: &Item) -> Option<&str> {
    match item {
        Item::Command(item) => Some(&item.id),
        Item::FileChange(item) => Some(&item.id),
        Item::McpTool(item) => Some(&item.id),
        Item::DynamicTool(item) => Some(&item.id),
        Item::Message(_) | Item::Reasoning(_) | Item::Other(_) => None,
    }
}

fn of_command(item: &CommandItem, spec: &SessionSpec) -> ToolCall {
    let script = script_of(&item.command).unwrap_or_else(|| item.command.clone());
    let call = spec.tool_call(&item.id, SHELL, json!({"command": script}));
    match &item.cwd {
        Some(directory) => call.in_dir(directory),
        None => call,
    }
}

fn of_patch(item: &FileChangeItem, spec: &SessionSpec) -> ToolCall {
    let changes = item.changes.iter().map(|change| {
        let mut shown = json!({"path": change.path, "kind": change.kind.name, "diff": change.diff});
        if let Some(to) = &change.kind.move_path {
            shown["movePath"] = json!(to);
        }
        shown
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
    let kind = match paths.is_empty() {
        true => ToolKind::Malformed {
            reason: "the patch does not say what it changes".to_owned(),
        },
        false => ToolKind::Write { paths },
    };
    spec.tool_call(&item.id, EDIT, input).with_kind(kind)
}

fn of_mcp(item: &McpToolItem, spec: &SessionSpec) -> ToolCall {
    let name = format!("mcp__{}__{}", item.server, item.tool);
    spec.tool_call(&item.id, name, item.arguments.clone())
}

fn of_dynamic(item: &DynamicToolItem, spec: &SessionSpec) -> ToolCall {
    let name = dynamic_name(item.namespace.as_deref(), &item.tool);
    spec.tool_call(&item.id, name, item.arguments.clone())
}

/// Returns the name that a tool of ours goes by.
pub(crate) fn dynamic_name(namespace: Option<&str>, tool: &str) -> String {
    match namespace {
        Some(Toolbox::SERVER) => Toolbox::qualified_name(tool),
        Some(namespace) => format!("{namespace}.{tool}"),
        None => tool.to_owned(),
    }
}

/// Returns what the program is told of our tools.
pub(crate) fn offered(tools: &Toolbox) -> Vec<Value> {
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
