//! Parses JSON of the Responses API into the types of a prompt.

use serde_json::Value;

use crate::model_server::json::{self, arguments, items, some_text, text, texts};
use crate::model_server::{
    OfferedTool, PromptBlock, PromptMessage, PromptToolResult, ReceivedPrompt,
};

/// Parses the body of a request; the error describes what is wrong with it.
pub(in crate::model_server::openai) fn prompt(body: &[u8]) -> Result<ReceivedPrompt, String> {
    let raw = json::body(body)?;
    let messages = match &raw["input"] {
        Value::String(input) => vec![PromptMessage {
            role: "user".to_owned(),
            content: vec![PromptBlock::Text(input.clone())],
            raw: raw["input"].clone(),
        }],
        Value::Array(input) => input.iter().map(message).collect(),
        _ => return Err("the request has no input".to_owned()),
    };
    Ok(ReceivedPrompt {
        model: json::model(&raw)?,
        max_tokens: raw["max_output_tokens"].as_u64(),
        stream: raw["stream"].as_bool().unwrap_or(false),
        system: texts(&raw["instructions"]),
        tools: items(&raw["tools"]).map(tool).collect(),
        messages,
        thinking: None,
        effort: some_text(&raw["reasoning"]["effort"]),
        raw,
    })
}

fn tool(raw: &Value) -> OfferedTool {
    let name = some_text(&raw["name"]);
    OfferedTool {
        // A tool of the vendor only has a type.
        name: name.unwrap_or_else(|| text(&raw["type"])),
        description: text(&raw["description"]),
        input_schema: raw["parameters"].clone(),
        raw: raw.clone(),
    }
}

/// Parses an item of the input.
fn message(raw: &Value) -> PromptMessage {
    let (role, content) = match raw["type"].as_str() {
        Some("message") | None => (text(&raw["role"]), content(&raw["content"])),
        Some("reasoning") => ("assistant".to_owned(), vec![thought(raw)]),
        Some("function_call") => {
            let call = call(raw, arguments(&raw["arguments"]));
            ("assistant".to_owned(), vec![call])
        }
        Some("custom_tool_call") => {
            let call = call(raw, raw["input"].clone());
            ("assistant".to_owned(), vec![call])
        }
        Some("function_call_output" | "custom_tool_call_output") => (
            "tool".to_owned(),
            vec![PromptBlock::ToolResult(result(raw))],
        ),
        Some(_) => (text(&raw["role"]), vec![PromptBlock::Other(raw.clone())]),
    };
    PromptMessage {
        role,
        content,
        raw: raw.clone(),
    }
}

fn content(raw: &Value) -> Vec<PromptBlock> {
    match raw {
        Value::String(text) => vec![PromptBlock::Text(text.clone())],
        parts => items(parts).map(part).collect(),
    }
}

fn part(raw: &Value) -> PromptBlock {
    match raw["type"].as_str() {
        Some("input_text" | "output_text" | "text") => PromptBlock::Text(text(&raw["text"])),
        _ => PromptBlock::Other(raw.clone()),
    }
}

fn thought(raw: &Value) -> PromptBlock {
    PromptBlock::Thinking {
        text: texts(&raw["summary"]).concat(),
        signature: some_text(&raw["encrypted_content"]),
    }
}

fn call(raw: &Value, input: Value) -> PromptBlock {
    PromptBlock::ToolUse {
        id: text(&raw["call_id"]),
        name: text(&raw["name"]),
        input,
        signature: None,
    }
}

fn result(raw: &Value) -> PromptToolResult {
    PromptToolResult {
        tool_use_id: text(&raw["call_id"]),
        name: None,
        text: texts(&raw["output"]).concat(),
        is_error: false,
        content: raw["output"].clone(),
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
            "instructions": "Be brief.",
            "max_output_tokens": 900,
            "stream": true,
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "tools": [
                {"type": "function", "name": "shell", "description": "runs",
                 "parameters": {"type": "object"}},
                {"type": "web_search"},
            ],
            "input": [
                {"role": "developer", "content": "It is late."},
                {"type": "message", "role": "user", "content": [
                    {"type": "input_text", "text": "go"},
                    {"type": "input_image", "image_url": "data:"},
                ]},
                {"type": "reasoning", "id": "rs_1", "encrypted_content": "s",
                 "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "shell",
                 "arguments": "{\"command\": \"ls\"}"},
                {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "***"},
                {"type": "function_call_output", "call_id": "c1", "output": "a"},
                {"type": "custom_tool_call_output", "call_id": "c2",
                 "output": [{"type": "input_text", "text": "b"}]},
                {"type": "item_reference", "id": "x"},
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
        assert!(read.tool("web_search").is_some());
        assert_eq!(read.signatures(), ["s"]);
        let called = PromptBlock::ToolUse {
            id: "c1".into(),
            name: "shell".into(),
            input: json!({"command": "ls"}),
            signature: None,
        };
        assert_eq!(read.messages[3].content, [called]);
        let results = read.tool_results();
        let fields = results.iter().map(|result| {
            let PromptToolResult {
                tool_use_id, text, ..
            } = result;
            (tool_use_id.as_str(), text.as_str())
        });
        assert_eq!(fields.collect::<Vec<_>>(), [("c1", "a"), ("c2", "b")]);
        let other = json!({"type": "item_reference", "id": "x"});
        assert_eq!(read.messages[7].content, [PromptBlock::Other(other)]);
        assert_eq!(read.to_string(), "gpt-x, 2 tools, 8 messages");
        assert_eq!(read.raw, body);
    }

    #[test]
    fn a_plain_text_is_the_word_of_the_user() {
        let read = prompt(br#"{"model": "gpt-x", "input": "go"}"#).unwrap();

        assert_eq!(read.user_texts(), ["go"]);
        assert!(!read.stream);
    }

    #[test]
    fn invalid_request_is_refused_with_the_reason() {
        for (body, reason) in [
            ("{", "the body of the request is not JSON: "),
            (r#"{"input": []}"#, "the request names no model"),
            (r#"{"model": "m"}"#, "the request has no input"),
        ] {
            let error = prompt(body.as_bytes()).unwrap_err();
            assert!(error.starts_with(reason), "{body}: {error}");
        }
    }
}
