//! What the program did although nobody had allowed it.

use std::collections::HashSet;

use serde_json::Value;

use crate::wire::{Item, ItemStatus};

/// Tools that are switched off, by the items that tell of them. Nobody is asked about them.
const SWITCHED_OFF: &[&str] = &[
    "collabAgentToolCall",
    "imageGeneration",
    "imageView",
    "sleep",
    "subAgentActivity",
    "webSearch",
];

/// Tools that read from MCP servers, which the program has by itself and never asks about.
const READS_RESOURCES: &[&str] = &[
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "read_mcp_resource",
];

/// Names what an item that is over did, if that was not among what was `allowed`.
///
/// It has happened then. But whatever guards the session does not hold, so nothing goes on.
pub(super) fn unasked(item: &Item, allowed: &HashSet<String>) -> Option<String> {
    let is_done = |status: ItemStatus| status == ItemStatus::Completed;
    match item {
        Item::Command(it) if it.exit_code.is_some() || is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a command".to_owned())
        }
        Item::FileChange(it) if is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a patch".to_owned())
        }
        // One that ran and came to an error has failed with a result; one that was refused has none.
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
    is_off.then(|| format!("something that is switched off ({kind})"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_allowed_may_have_happened() {
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
            let found = unasked(&Item::read(&item), &allowed);

            assert_eq!(found.is_some(), is_unasked, "{item} {found:?}");
        }
    }
}
