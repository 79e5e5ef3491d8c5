//! Tool descriptions for `tools/list`.

use std::borrow::Cow;

use autonoe_core::tool::{ToolDefinition, ToolEffect};
use rmcp::model::{Tool, ToolAnnotations};

use super::flatten;

/// Returns the MCP description of a tool.
///
/// All annotations are set explicitly. Without them, agents assume a destructive tool with access
/// to the outside world and ask for approval of every call, and runs are unattended. Effects of our
/// tools can be reverted (the ledger keeps its history) and stay in the project.
pub(crate) fn mcp_tool(tool: &ToolDefinition) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == ToolEffect::ReadOnly)
        .destructive(false)
        .open_world(false);
    Tool::new(
        Cow::Owned(tool.name.clone()),
        Cow::Owned(tool.description.clone()),
        flatten(&tool.input_schema),
    )
    .with_annotations(annotations)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn listed_tool_has_flat_schema_and_hints() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"id": {"$ref": "#/$defs/Id"}},
            "$defs": {"Id": {"type": "string", "minLength": 1}},
        });
        let look = ToolDefinition::new("look", "Looks.", schema.clone()).read_only();
        let change = ToolDefinition::new("change", "Changes.", schema);

        let told = |tool| serde_json::to_value(mcp_tool(tool)).expect("it serialises");

        let flat = json!({
            "type": "object",
            "properties": {"id": {"type": "string", "minLength": 1}},
        });
        let hints = |only_looks: bool| {
            json!({
                "readOnlyHint": only_looks,
                "destructiveHint": false,
                "openWorldHint": false,
            })
        };
        assert_eq!(
            told(&look),
            json!({"name": "look", "description": "Looks.", "inputSchema": flat, "annotations": hints(true)})
        );
        assert_eq!(
            told(&change),
            json!({"name": "change", "description": "Changes.", "inputSchema": flat, "annotations": hints(false)})
        );
    }
}
