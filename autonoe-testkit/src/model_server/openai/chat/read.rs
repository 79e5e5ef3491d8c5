//! Parses JSON of Chat Completions into the types of a prompt.

use serde_json::Value;

use crate::model_server::json::{self, arguments, items, some_text, text, texts};
use crate::model_server::{
    OfferedTool, PromptBlock, PromptMessage, PromptToolResult, ReceivedPrompt,
};

/// Parses the body of a request; the error describes what is wrong with it.
pub(in crate::model_server::openai) fn prompt(body: &[u8]) -> Result<ReceivedPrompt, String> {
    let raw = json::body(body)?;
    let messages = raw["messages"].as_array();
    let messages = messages.ok_or("the request has no messages")?;
    let max_tokens = raw["max_completion_tokens"].as_u64();
    Ok(ReceivedPrompt {
        model: json::model(&raw)?,
        max_tokens: max_tokens.or_else(|| raw["max_tokens"].as_u64()),
        stream: raw["stream"].as_bool().unwrap_or(false),
        system: Vec::new(),
        tools: items(&raw["tools"]).map(tool).collect(),
        messages: messages.iter().map(message).collect(),
        thinking: None,
        effort: some_text(&raw["reasoning_effort"]),
        raw,
    })
}

fn tool(raw: &Value) -> OfferedTool {
    let function = &raw["function"];
    OfferedTool {
        name: text(&function["name"]),
        description: text(&function["description"]),
        input_schema: function["parameters"].clone(),
        raw: raw.clone(),
    }
}

fn message(raw: &Value) -> PromptMessage {
    let role = text(&raw["role"]);
    let content = match role.as_str() {
        "tool" => vec![PromptBlock::ToolResult(result(raw))],
        _ => content(raw),
    };
    PromptMessage {
        role,
        content,
        raw: raw.clone(),
    }
}

/// Parses the parts: reasoning, text and tool calls.
fn content(raw: &Value) -> Vec<PromptBlock> {
    let thought = raw["reasoning_content"].as_str();
    let thought = thought.map(|text| PromptBlock::Thinking {
        text: text.to_owned(),
        signature: None,
    });
    let blocks: Vec<PromptBlock> = match &raw["content"] {
        Value::String(text) => vec![PromptBlock::Text(text.clone())],
        parts => items(parts).map(part).collect(),
    };
    let calls = items(&raw["tool_calls"]).map(call);
    thought.into_iter().chain(blocks).chain(calls).collect()
}

fn part(raw: &Value) -> PromptBlock {
    match raw["type"].as_str() {
        Some("text") => PromptBlock::Text(text(&raw["text"])),
        _ => PromptBlock::Other(raw.clone()),
    }
}

fn call(raw: &Value) -> PromptBlock {
    PromptBlock::ToolUse {
        id: text(&raw["id"]),
        name: text(&raw["function"]["name"]),
        input: arguments(&raw["function"]["arguments"]),
        signature: None,
    }
}

fn result(raw: &Value) -> PromptToolResult {
    PromptToolResult {
        tool_use_id: text(&raw["tool_call_id"]),
        name: some_text(&raw["name"]),
        text: texts(&raw["content"]).concat(),
        is_error: false,
        content: raw["content"].clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parses_parts_of_a_request() {
        let body = json!({
            "model": "gpt-x",
            "max_completion_tokens": 900,
            "max_tokens": 5,
            "stream": true,
            "reasoning_effort": "low",
            "tools": [{"type": "function", "function": {
                "name": "shell", "description": "runs", "parameters": {"type": "object"},
            }}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "developer", "content": "It is late."},
                {"role": "user", "content": [
                    {"type": "text", "text": "go"},
                    {"type": "image_url", "image_url": {"url": "data:"}},
                ]},
                {"role": "assistant", "content": "I look.", "reasoning_content": "hm",
                 "tool_calls": [
                    {"id": "c1", "type": "function",
                     "function": {"name": "shell", "arguments": "{\"command\": \"ls\"}"}},
                    {"id": "c2", "type": "function",
                     "function": {"name": "shell", "arguments": "{broken"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "a"},
                {"role": "tool", "tool_call_id": "c2",
                 "content": [{"type": "text", "text": "b"}]},
            ],
        });

        let read = prompt(body.to_string().as_bytes()).unwrap();

        assert_eq!((read.model.as_str(), read.max_tokens), ("gpt-x", Some(900)));
        assert!(read.stream);
        assert_eq!(read.effort.as_deref(), Some("low"));
        assert_eq!(read.system_texts(), ["Be brief.", "It is late."]);
        assert_eq!(read.user_texts(), ["go"]);
        let shell = read.tool("shell").unwrap();
        assert_eq!(shell.input_schema, json!({"type": "object"}));
        let call = |id: &str, input| PromptBlock::ToolUse {
            id: id.into(),
            name: "shell".into(),
            input,
            signature: None,
        };
        let answered = [
            PromptBlock::Thinking {
                text: "hm".into(),
                signature: None,
            },
            PromptBlock::Text("I look.".into()),
            call("c1", json!({"command": "ls"})),
            call("c2", json!("{broken")),
        ];
        assert_eq!(read.messages[3].content, answered);
        let results = read.tool_results();
        let fields = results.iter().map(|result| {
            let PromptToolResult {
                tool_use_id, text, ..
            } = result;
            (tool_use_id.as_str(), text.as_str())
        });
        assert_eq!(fields.collect::<Vec<_>>(), [("c1", "a"), ("c2", "b")]);
        assert_eq!(read.to_string(), "gpt-x, 1 tools, 6 messages");
        assert_eq!(read.raw, body);
    }

    #[test]
    fn the_older_name_of_the_limit_is_known() {
        let read = prompt(br#"{"model": "gpt-x", "messages": [], "max_tokens": 5}"#).unwrap();

        assert_eq!(read.max_tokens, Some(5));
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
}
