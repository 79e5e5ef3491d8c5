//! Parses JSON of the Messages API into the types of a request.

use serde_json::Value;

use crate::model_server::json::{self, items, some_text, text, texts};
use crate::model_server::{
    OfferedTool, PromptBlock, PromptMessage, PromptToolResult, ReceivedPrompt, Thinking,
};

/// Parses the body of a request; the error describes what is wrong with it.
pub(super) fn prompt(body: &[u8]) -> Result<ReceivedPrompt, String> {
    let raw = json::body(body)?;
    let model = json::model(&raw)?;
    let messages = raw["messages"].as_array();
    let messages = messages.ok_or("the request has no messages")?;
    Ok(ReceivedPrompt {
        model,
        max_tokens: raw["max_tokens"].as_u64(),
        stream: raw["stream"].as_bool().unwrap_or(false),
        system: texts(&raw["system"]),
        tools: items(&raw["tools"]).map(tool).collect(),
        messages: messages.iter().map(message).collect(),
        thinking: raw.get("thinking").map(thinking),
        effort: some_text(&raw["output_config"]["effort"]),
        raw,
    })
}

fn tool(raw: &Value) -> OfferedTool {
    OfferedTool {
        name: text(&raw["name"]),
        description: text(&raw["description"]),
        input_schema: raw["input_schema"].clone(),
        raw: raw.clone(),
    }
}

fn message(raw: &Value) -> PromptMessage {
    let content = match &raw["content"] {
        Value::String(text) => vec![PromptBlock::Text(text.clone())],
        blocks => items(blocks).map(block).collect(),
    };
    PromptMessage {
        role: text(&raw["role"]),
        content,
        raw: raw.clone(),
    }
}

fn block(raw: &Value) -> PromptBlock {
    match raw["type"].as_str() {
        Some("text") => PromptBlock::Text(text(&raw["text"])),
        Some("thinking") => PromptBlock::Thinking {
            text: text(&raw["thinking"]),
            signature: some_text(&raw["signature"]),
        },
        Some("tool_use") => PromptBlock::ToolUse {
            id: text(&raw["id"]),
            name: text(&raw["name"]),
            input: raw["input"].clone(),
            signature: None,
        },
        Some("tool_result") => PromptBlock::ToolResult(PromptToolResult {
            tool_use_id: text(&raw["tool_use_id"]),
            name: None,
            text: texts(&raw["content"]).concat(),
            is_error: raw["is_error"].as_bool().unwrap_or(false),
            content: raw["content"].clone(),
        }),
        _ => PromptBlock::Other(raw.clone()),
    }
}

fn thinking(raw: &Value) -> Thinking {
    match (raw["type"].as_str(), raw["budget_tokens"].as_u64()) {
        (Some("adaptive"), _) => Thinking::Adaptive,
        (Some("disabled"), _) => Thinking::Disabled,
        (Some("enabled"), Some(budget_tokens)) => Thinking::Enabled { budget_tokens },
        _ => Thinking::Other(raw.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parses_parts_of_a_request() {
        let body = json!({
            "model": "claude-x",
            "max_tokens": 64000,
            "stream": true,
            "system": [{"type": "text", "text": "Be brief."}],
            "tools": [{"name": "Bash", "description": "runs", "input_schema": {"type": "object"}}],
            "thinking": {"type": "enabled", "budget_tokens": 8000},
            "output_config": {"effort": "high"},
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "system", "content": "It is late."},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
                     "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                    {"type": "image", "source": {}},
                ]},
            ],
        });

        let read = prompt(body.to_string().as_bytes()).unwrap();

        assert_eq!(
            (read.model.as_str(), read.max_tokens),
            ("claude-x", Some(64000))
        );
        assert!(read.stream);
        assert_eq!(read.system_texts(), ["Be brief.", "It is late."]);
        assert_eq!(read.user_texts(), ["go"]);
        assert_eq!(read.signatures(), ["s"]);
        assert_eq!(
            read.tool("Bash").unwrap().input_schema,
            json!({"type": "object"})
        );
        assert_eq!(
            read.thinking,
            Some(Thinking::Enabled {
                budget_tokens: 8000
            })
        );
        assert_eq!(read.effort.as_deref(), Some("high"));
        let results = read.tool_results();
        assert_eq!(results.len(), 1);
        assert_eq!(
            (results[0].text.as_str(), results[0].is_error),
            ("ab", true)
        );
        let other = json!({"type": "image", "source": {}});
        assert_eq!(read.messages[3].content[1], PromptBlock::Other(other));
        assert_eq!(read.to_string(), "claude-x, 1 tools, 4 messages");
        assert_eq!(read.raw, body);
    }

    #[test]
    fn invalid_request_is_refused_with_the_reason() {
        for (body, reason) in [
            ("{", "the body of the request is not JSON: "),
            (r#"{"messages": []}"#, "the request names no model"),
            (r#"{"model": "m"}"#, "the request has no messages"),
        ] {
            let error = prompt(body.as_bytes()).unwrap_err();
            assert!(error.starts_with(reason), "{body}: {error}");
        }
    }

    #[test]
    fn unknown_thinking_settings_are_kept() {
        for (raw, read) in [
            (
                json!({"type": "adaptive", "display": "updates"}),
                Thinking::Adaptive,
            ),
            (json!({"type": "disabled"}), Thinking::Disabled),
            (
                json!({"type": "enabled"}),
                Thinking::Other(json!({"type": "enabled"})),
            ),
            (
                json!({"type": "deep"}),
                Thinking::Other(json!({"type": "deep"})),
            ),
        ] {
            assert_eq!(thinking(&raw), read, "{raw}");
        }
    }
}
