//! Tests of [`McpServer`].

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::time::SessionKey;
use autonoe_core::{RunId, Tool, ToolError, ToolOutput};

use super::*;

struct Shout(ToolDefinition);

#[async_trait]
impl Tool for Shout {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let text = input["text"].as_str().unwrap_or_default();
        Ok(ToolOutput::new(text.to_uppercase()))
    }
}

fn server() -> McpServer {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let shout = Shout(ToolDefinition::new("shout", "Says it louder.", schema).read_only());
    McpServer::new(Toolbox::new([Arc::new(shout) as Arc<dyn Tool>]))
}

fn context() -> ToolContext {
    ToolContext::new(SessionKey {
        run: RunId::new("run"),
        number: 1,
    })
}

async fn called(arguments: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "shout", "arguments": arguments,
        "_meta": {"claudecode/toolUseId": "toolu_1", "progressToken": 2},
    }});
    let Incoming::Call(request) = server().receive(&message) else {
        panic!("{message} is no call");
    };
    assert_eq!(request.call_id.as_deref(), Some("toolu_1"));
    server().call(&request, context()).await
}

#[test]
fn initialize_is_answered_with_the_version_of_the_client_every_time() {
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
    }});
    let server = server();

    for _ in 0..2 {
        let Incoming::Answer(answer) = server.receive(&greeting) else {
            panic!("no answer");
        };
        assert_eq!(answer["id"], 0);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "autonoe");
    }
}

#[test]
fn tools_are_always_loaded_and_marked_if_read_only() {
    let Incoming::Answer(answer) =
        server().receive(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
    else {
        panic!("no answer");
    };

    let tool = &answer["result"]["tools"][0];
    assert_eq!(tool["name"], "shout");
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
    assert_eq!(tool["inputSchema"]["required"], json!(["text"]));
}

#[test]
fn a_notification_is_acknowledged_and_an_unknown_method_refused() {
    let noted = server().receive(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let unknown = server().receive(&json!({"jsonrpc": "2.0", "id": "a", "method": "sing"}));

    assert_eq!(
        noted,
        Incoming::Answer(json!({"jsonrpc": "2.0", "result": {}}))
    );
    let Incoming::Answer(unknown) = unknown else {
        panic!("no answer");
    };
    assert_eq!(
        (&unknown["id"], &unknown["error"]["code"]),
        (&json!("a"), &json!(-32601))
    );
}

#[tokio::test]
async fn a_call_gets_the_text_of_the_tool() {
    let answer = called(json!({"text": "hello"})).await;

    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": 7, "result": {
            "content": [{"type": "text", "text": "HELLO"}]
        }})
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_tool() {
    for arguments in [
        json!({}),
        json!({"text": 7}),
        json!({"text": "a", "b": 1}),
        json!("a"),
    ] {
        let answer = called(arguments.clone()).await;

        assert_eq!(answer["result"]["isError"], true, "{arguments}");
        let text = answer["result"]["content"][0]["text"].as_str();
        assert!(
            text.is_some_and(|text| text.starts_with("VALIDATION_ERROR")),
            "{answer}"
        );
    }
}

#[test]
fn malformed_requests_get_an_answer() {
    for message in [
        json!(null),
        json!([]),
        json!({"id": 1}),
        json!({"method": 3, "id": {}}),
    ] {
        assert!(
            matches!(server().receive(&message), Incoming::Answer(_)),
            "{message}"
        );
    }
}
