//! Detects calls that the program ran without permission.

use std::collections::HashSet;

use serde_json::Value;

use crate::wire::{Item, ItemStatus};

/// Item types of disabled tools, for which the program requests no permission.
const SWITCHED_OFF: &[&str] = &[
    "collabAgentToolCall",
    "imageGeneration",
    "imageView",
    "sleep",
    "subAgentActivity",
    "webSearch",
];

/// Built-in tools that read from MCP servers, for which the program requests no permission.
const READS_RESOURCES: &[&str] = &[
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "read_mcp_resource",
];

/// Returns a description of the call of a finished item, if the call is not `allowed`.
///
/// The call has run already. But the permission settings of the session are not in force, so the
/// session must not continue.
pub(super) fn ungated_call(item: &Item, allowed: &HashSet<String>) -> Option<String> {
    let is_done = |status: ItemStatus| status == ItemStatus::Completed;
    match item {
        Item::Command(it) if it.exit_code.is_some() || is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a command".to_owned())
        }
        Item::FileChange(it) if is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a patch".to_owned())
        }
        // A call that ran into an error has failed with a result; a refused one has no result.
        Item::McpTool(it) if is_done(it.status) || it.result.is_some() => {
            let is_known_hole = READS_RESOURCES.contains(&it.tool.as_str());
            (!is_known_hole && !allowed.contains(&it.id))
                .then(|| format!("a call of the MCP server {}", it.server))
        }
        Item::Other(it) => switched_off(it),
        _ => None,
    }
}

fn switched_off(item: &Value) -> Option<String> {
    let kind = item["type"].as_str()?;
    let is_off = SWITCHED_OFF.contains(&kind);
    is_off.then(|| format!("a disabled tool ({kind})"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_allowed_calls_may_have_run() {
        let allowed = HashSet::from(["yes".to_owned()]);
        for (item, is_unasked) in [
            (
                json!({"type": "commandExecution", "id": "no", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "failed", "exitCode": 1}),
                true,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "failed"}),
                false,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "declined"}),
                false,
            ),
            (
                json!({"type": "commandExecution", "id": "yes", "status": "completed"}),
                false,
            ),
            (
                json!({"type": "fileChange", "id": "no", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "fileChange", "id": "no", "status": "failed"}),
                false,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "failed",
                    "result": {"content": []}, "error": null}),
                true,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "failed",
                    "result": null, "error": {"message": "it was refused"}}),
                false,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "read_mcp_resource", "status": "completed"}),
                false,
            ),
            (json!({"type": "webSearch", "id": "no"}), true),
            (json!({"type": "contextCompaction", "id": "no"}), false),
            (
                json!({"type": "dynamicToolCall", "id": "no", "status": "completed"}),
                false,
            ),
        ] {
            let found = ungated_call(&Item::parse(&item), &allowed);

            assert_eq!(found.is_some(), is_unasked, "{item} {found:?}");
        }
    }
}
