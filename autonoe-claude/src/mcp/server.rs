//! Answers to the messages of an MCP client.

use autonoe_core::{ToolContext, ToolDefinition, ToolEffect, Toolbox};
use serde_json::{Map, Value, json};

use super::content;

/// The version of the protocol that is spoken when the client names none.
const PROTOCOL: &str = "2025-11-25";

/// Our tools as an MCP server.
pub(crate) struct McpServer {
    tools: Toolbox,
}

/// What a message asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// Nothing more than this answer.
    Answer(Value),
    /// A tool is to be called.
    Call(ToolCallRequest),
    /// The call of the JSON-RPC id is not wanted any more.
    Cancelled(Value),
}

/// A tool that is to be called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolCallRequest {
    /// The JSON-RPC id, for the answer.
    pub(crate) id: Value,
    /// The tool, by its bare name.
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// The call, as the agent names it.
    pub(crate) call_id: Option<String>,
}

impl McpServer {
    pub(crate) fn new(tools: Toolbox) -> Self {
        Self { tools }
    }

    /// Reads a message.
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
            // Notifications want an answer of some kind, too.
            (_, None) => Incoming::Answer(json!({"jsonrpc": "2.0", "result": {}})),
        }
    }

    /// Calls a tool, which gets only arguments that fit, and returns the answer.
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

/// Answers a call that may not happen.
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
        // Calls of tools that only read come side by side.
        "annotations": {"readOnlyHint": tool.effect == ToolEffect::ReadOnly},
        // Newer builds leave tools out of the prompt otherwise, until they are searched for.
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
