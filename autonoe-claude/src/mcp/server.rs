//! [`McpServer`], which answers the messages of an MCP client.

use autonoe_core::ToolContext;
use autonoe_core::tool::{ToolDefinition, ToolEffect, Toolbox};
use serde_json::{Map, Value, json};

use super::content;

/// The protocol version if the client names none.
const PROTOCOL: &str = "2025-11-25";

/// Our tools as an MCP server.
pub(crate) struct McpServer {
    tools: Toolbox,
}

/// The meaning of a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// The message needs no more than this answer.
    Answer(Value),
    /// A tool call.
    Call(ToolCallRequest),
    /// The call with this JSON-RPC id is cancelled.
    Cancelled(Value),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolCallRequest {
    /// The JSON-RPC id, for the answer.
    pub(crate) id: Value,
    /// The tool, without the prefix of its server.
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// The agent's id of the call.
    pub(crate) call_id: Option<String>,
}

impl McpServer {
    pub(crate) fn new(tools: Toolbox) -> Self {
        Self { tools }
    }

    /// Handles a message.
    pub(crate) fn receive(&self, message: &Value) -> Incoming {
        let id = message.get("id").cloned();
        let params = &message["params"];
        match (message["method"].as_str().unwrap_or_default(), id) {
            ("initialize", Some(id)) => Incoming::Answer(result(&id, &greeting(params))),
            ("ping", Some(id)) => Incoming::Answer(result(&id, &json!({}))),
            ("tools/list", Some(id)) => Incoming::Answer(result(&id, &self.list())),
            ("tools/call", Some(id)) => call(id, params),
            ("notifications/cancelled", _) => Incoming::Cancelled(params["requestId"].clone()),
            (method, Some(id)) => {
                let reason = format!("there is no method {method:?}");
                Incoming::Answer(failure(&id, -32601, &reason))
            }
            // Notifications need an answer, too.
            (_, None) => Incoming::Answer(json!({"jsonrpc": "2.0", "result": {}})),
        }
    }

    /// Calls a tool, and returns the answer. The tool gets only valid arguments.
    pub(crate) async fn call(&self, request: &ToolCallRequest, context: ToolContext) -> Value {
        let arguments = request.arguments.clone();
        let answer = match self.tools.call(&request.tool, arguments, context).await {
            Ok(output) => content::output(&output),
            Err(error) => content::failure(&error),
        };
        result(&request.id, &answer)
    }

    fn list(&self) -> Value {
        let tools: Vec<Value> = self.tools.definitions().map(listed).collect();
        json!({ "tools": tools })
    }
}

/// Returns the answer to a denied call.
pub(crate) fn refusal(id: &Value, reason: &str) -> Value {
    result(id, &content::refusal(reason))
}

fn greeting(params: &Value) -> Value {
    let version = params["protocolVersion"].as_str().unwrap_or(PROTOCOL);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": Toolbox::SERVER, "version": env!("CARGO_PKG_VERSION")},
    })
}

fn listed(tool: &ToolDefinition) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        // The program runs calls of read-only tools concurrently.
        "annotations": {"readOnlyHint": tool.effect == ToolEffect::ReadOnly},
        // Otherwise newer builds leave tools out of the prompt until the agent searches for them.
        "_meta": {"anthropic/alwaysLoad": true},
    })
}

fn call(id: Value, params: &Value) -> Incoming {
    let Some(tool) = params["name"].as_str() else {
        return Incoming::Answer(failure(&id, -32602, "the tool has no name"));
    };
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(arguments) => arguments.clone(),
    };
    let call_id = params["_meta"]["claudecode/toolUseId"].as_str();
    Incoming::Call(ToolCallRequest {
        id,
        tool: tool.to_owned(),
        arguments,
        call_id: call_id.map(str::to_owned),
    })
}

fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests;
