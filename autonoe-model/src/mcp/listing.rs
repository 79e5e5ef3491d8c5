//! Tool list of an MCP server.

use autonoe_core::tool::{InputSchema, ToolDefinition};
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::Value;

/// Maximum number of pages of a list.
const MAX_PAGES: usize = 100;

/// Maximum number of tools of a server.
const MAX_TOOLS: usize = 500;

/// Maximum length of a tool name: the limit of the strictest provider.
const MAX_NAME_LEN: usize = 64;

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedTool {
    /// Server's name of the tool.
    pub(super) name: String,
    /// Definition for the model.
    pub(super) definition: ToolDefinition,
}

/// Requests the tools of a server, as JSON.
///
/// # Errors
///
/// The server returns no list, or an endless one.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Value>, String> {
    let has_tools = peer
        .peer_info()
        .is_some_and(|info| info.capabilities.tools.is_some());
    if !has_tools {
        return Ok(Vec::new());
    }
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let answer = peer
            .send_request(request)
            .await
            .map_err(|error| listing_error(&error))?;
        // As JSON: one malformed tool must not make the others unusable.
        let mut answer = serde_json::to_value(&answer).unwrap_or_default();
        let Some(Value::Array(more)) = answer.get_mut("tools").map(Value::take) else {
            return Err("its answer is not a list of tools".to_owned());
        };
        tools.extend(more);
        if tools.len() > MAX_TOOLS {
            return Err(format!("it has more than {MAX_TOOLS} tools"));
        }
        cursor = match answer.get("nextCursor").and_then(Value::as_str) {
            None | Some("") => return Ok(tools),
            Some(next) => Some(next.to_owned()),
        };
    }
    Err("the list of its tools never ends".to_owned())
}

fn listing_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("it refuses to list its tools: {}", error.message),
        _ => "it closed the connection before it listed its tools".to_owned(),
    }
}

/// Returns the tools that a model can call, and a warning for each of the others.
pub(super) fn usable_tools(server: &str, listed_tools: &[Value]) -> (Vec<ListedTool>, Vec<String>) {
    let (mut listed, mut warnings) = (Vec::<ListedTool>::new(), Vec::new());
    for tool in listed_tools {
        match read(server, tool) {
            Ok(tool) if listed.iter().any(|other| other.name == tool.name) => {
                warnings.push(left_out(server, &tool.name, "it is listed twice"));
            }
            Ok(tool) => listed.push(tool),
            Err(reason) => {
                let name = tool.get("name").and_then(Value::as_str);
                warnings.push(left_out(server, name.unwrap_or_default(), &reason));
            }
        }
    }
    (listed, warnings)
}

fn left_out(server: &str, tool: &str, reason: &str) -> String {
    format!("the tool {tool:?} of the MCP server {server:?} is left out: {reason}")
}

fn read(server: &str, tool: &Value) -> Result<ListedTool, String> {
    let field = |name: &str| tool.get(name).and_then(Value::as_str);
    let name = field("name").unwrap_or_default();
    let qualified = format!("mcp__{server}__{name}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(fits) {
        return Err("names of tools may only have letters, digits, _ and -".to_owned());
    }
    if qualified.len() > MAX_NAME_LEN {
        return Err(format!(
            "{qualified:?} is longer than {MAX_NAME_LEN} letters"
        ));
    }
    let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("its input schema is not an object".to_owned());
    }
    InputSchema::new(schema).map_err(|error| error.to_string())?;
    let description = field("description").or_else(|| field("title"));
    let definition =
        ToolDefinition::new(qualified, description.unwrap_or_default(), schema.clone());
    let hint = tool.pointer("/annotations/readOnlyHint");
    let is_read_only = hint.and_then(Value::as_bool) == Some(true);
    Ok(ListedTool {
        name: name.to_owned(),
        definition: if is_read_only {
            definition.read_only()
        } else {
            definition
        },
    })
}

#[cfg(test)]
mod tests {
    use autonoe_core::tool::ToolEffect;
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_named_by_server_and_tool() {
        let schema = json!({"type": "object", "properties": {"url": {"type": "string"}}});
        let listed_tools = [
            json!({"name": "look", "description": "Looks.", "inputSchema": schema,
                   "annotations": {"readOnlyHint": true}}),
            json!({"name": "go", "title": "Go", "inputSchema": schema,
                   "annotations": {"readOnlyHint": "yes"}}),
        ];

        let (listed, warnings) = usable_tools("web", &listed_tools);

        assert!(warnings.is_empty(), "{warnings:?}");
        let read_only_tool = ToolDefinition::new("mcp__web__look", "Looks.", schema.clone());
        let go = ToolDefinition::new("mcp__web__go", "Go", schema);
        let definitions: Vec<_> = listed.into_iter().map(|tool| tool.definition).collect();
        assert_eq!(definitions, [read_only_tool.read_only(), go]);
        assert_eq!(definitions[1].effect, ToolEffect::Writes);
    }

    #[test]
    fn a_tool_that_no_model_could_call_is_left_out_and_the_others_are_not() {
        let object = json!({"type": "object"});
        for (tool, reason) in [
            (json!({"name": "a"}), "not an object"),
            (
                json!({"name": "a", "inputSchema": "object"}),
                "not an object",
            ),
            (
                json!({"name": "a", "inputSchema": {"type": "array"}}),
                "not an object",
            ),
            (
                json!({"name": "a", "inputSchema": {"type": "object", "properties": 5}}),
                "schema cannot be used",
            ),
            (json!({"inputSchema": object}), "letters"),
            (json!({"name": "a b", "inputSchema": object}), "letters"),
            (
                json!({"name": "a".repeat(60), "inputSchema": object}),
                "longer",
            ),
            (json!({"name": "ok", "inputSchema": object}), "twice"),
            (json!("garbage"), "letters"),
        ] {
            let listed_tools = [json!({"name": "ok", "inputSchema": object}), tool.clone()];

            let (listed, warnings) = usable_tools("web", &listed_tools);

            assert_eq!(listed.len(), 1, "{tool}");
            assert!(warnings[0].contains(reason), "{tool}: {warnings:?}");
        }
    }
}
