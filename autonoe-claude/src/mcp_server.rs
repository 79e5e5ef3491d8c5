//! [`McpServer`], which serves our tools over the control protocol of the program.
//!
//! It is stateless: one build of the program sends `initialize` twice at once with the same JSON-RPC
//! ids. The caller matches requests and answers by the id of the control request.

use autonoe_core::tool::{Attachment, ToolDefinition, ToolEffect, Toolbox};
use autonoe_core::{ToolContext, ToolError, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

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
            Ok(output) => output_content(&output),
            Err(error) => error_content(&error),
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
    result(id, &json!({"content": [text(reason)], "isError": true}))
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

/// Returns the answer of a tool that succeeded.
///
/// There is no `structuredContent`: it would replace the text.
fn output_content(output: &ToolOutput) -> Value {
    let mut content = vec![text(&output.output)];
    content.extend(output.attachments.iter().map(attachment));
    json!({ "content": content })
}

/// Returns the answer of a tool that failed.
///
/// Attachments are text: the model API refuses a failed result with anything else.
fn error_content(error: &ToolError) -> Value {
    let mut content = vec![text(&error.to_string())];
    let attachments = error.attachments().iter();
    content.extend(attachments.map(|attachment| text(&attachment.to_text())));
    json!({"content": content, "isError": true})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn attachment(attachment: &Attachment) -> Value {
    let kind = &attachment.media_type;
    if kind.starts_with("image/") {
        let data = STANDARD.encode(&attachment.data);
        return json!({"type": "image", "data": data, "mimeType": kind});
    }
    text(&attachment.to_text())
}

#[cfg(test)]
mod tests;
