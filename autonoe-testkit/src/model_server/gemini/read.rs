//! Parses JSON of the Gemini API into the types of a prompt.

use serde_json::Value;

use crate::model_server::json::{self, items, some_text, text, texts};
use crate::model_server::{
    OfferedTool, PromptBlock, PromptMessage, PromptToolResult, ReceivedPrompt, Thinking,
};

/// The delivery of an answer, which the path selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Whole,
    Stream,
}

/// Parses the body of a request to `model`; the error describes what is wrong with it.
pub(super) fn prompt(
    body: &[u8],
    model: &str,
    answered: Answered,
) -> Result<ReceivedPrompt, String> {
    let raw = json::body(body)?;
    // Token counts refer to contents, or to a complete request in an envelope.
    let request = match &raw["generateContentRequest"] {
        Value::Null => &raw,
        request => request,
    };
    let contents = request["contents"].as_array();
    let contents = contents.ok_or("the request has no contents")?;
    let settings = &request["generationConfig"];
    let thinking = &settings["thinkingConfig"];
    Ok(ReceivedPrompt {
        model: model.to_owned(),
        max_tokens: settings["maxOutputTokens"].as_u64(),
        stream: answered == Answered::Stream,
        system: texts(&request["systemInstruction"]["parts"]),
        tools: items(&request["tools"]).flat_map(tools).collect(),
        messages: contents.iter().map(message).collect(),
        thinking: (!thinking.is_null()).then(|| parse_thinking_budget(thinking)),
        effort: some_text(&thinking["thinkingLevel"]),
        raw,
    })
}

/// Parses the functions of an entry, or the vendor's tool that it enables.
fn tools(raw: &Value) -> Vec<OfferedTool> {
    if let Some(functions) = raw["functionDeclarations"].as_array() {
        return functions.iter().map(function).collect();
    }
    let names = raw.as_object().into_iter().flat_map(|entry| entry.keys());
    let tool = |name: &String| OfferedTool {
        name: name.clone(),
        description: String::new(),
        input_schema: Value::Null,
        raw: raw.clone(),
    };
    names.map(tool).collect()
}

fn function(raw: &Value) -> OfferedTool {
    let schema = match &raw["parametersJsonSchema"] {
        Value::Null => &raw["parameters"],
        schema => schema,
    };
    OfferedTool {
        name: text(&raw["name"]),
        description: text(&raw["description"]),
        input_schema: schema.clone(),
        raw: raw.clone(),
    }
}

fn message(raw: &Value) -> PromptMessage {
    // A single message may omit its role.
    let role = some_text(&raw["role"]).unwrap_or_else(|| "user".to_owned());
    PromptMessage {
        role,
        content: items(&raw["parts"]).map(part).collect(),
        raw: raw.clone(),
    }
}

fn part(raw: &Value) -> PromptBlock {
    let signature = some_text(&raw["thoughtSignature"]);
    let (call, result) = (&raw["functionCall"], &raw["functionResponse"]);
    match (raw["text"].as_str(), signature) {
        (Some(_), signature) if raw["thought"] == true => PromptBlock::Thinking {
            text: text(&raw["text"]),
            signature,
        },
        (Some(text), Some(signature)) => PromptBlock::SignedText {
            text: text.to_owned(),
            signature,
        },
        (Some(text), None) => PromptBlock::Text(text.to_owned()),
        (None, signature) if call.is_object() => PromptBlock::ToolUse {
            id: text(&call["id"]),
            name: text(&call["name"]),
            input: call["args"].clone(),
            signature,
        },
        _ if result.is_object() => PromptBlock::ToolResult(tool_result(result)),
        _ => PromptBlock::Other(raw.clone()),
    }
}

/// Parses the result of a call: by convention an object with `output` or `error`.
fn tool_result(raw: &Value) -> PromptToolResult {
    let response = &raw["response"];
    let error = &response["error"];
    let result = match (error, &response["output"]) {
        (Value::Null, Value::Null) => response,
        (Value::Null, output) => output,
        (error, _) => error,
    };
    PromptToolResult {
        tool_use_id: text(&raw["id"]),
        name: some_text(&raw["name"]),
        text: some_text(result).unwrap_or_else(|| result.to_string()),
        is_error: !error.is_null(),
        content: response.clone(),
    }
}

fn parse_thinking_budget(raw: &Value) -> Thinking {
    match raw["thinkingBudget"].as_i64() {
        Some(-1) => Thinking::Adaptive,
        Some(0) => Thinking::Disabled,
        Some(tokens @ 1..) => Thinking::Enabled {
            budget_tokens: tokens.unsigned_abs(),
        },
        _ => Thinking::Other(raw.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> ReceivedPrompt {
        prompt(body.to_string().as_bytes(), "gemini-x", Answered::Stream).unwrap()
    }

    #[test]
    fn parses_parts_of_a_request() {
        let body = json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "generationConfig": {
                "maxOutputTokens": 900,
                "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"},
            },
            "tools": [
                {"functionDeclarations": [
                    {"name": "shell", "description": "runs", "parameters": {"type": "OBJECT"}},
                    {"name": "read", "parametersJsonSchema": {"type": "object"}},
                ]},
                {"googleSearch": {}},
            ],
            "contents": [
                {"parts": [{"text": "go"}, {"inlineData": {}}]},
                {"role": "model", "parts": [
                    {"text": "hm", "thought": true, "thoughtSignature": "s1"},
                    {"text": "I look.", "thoughtSignature": "s2"},
                    {"functionCall": {"name": "shell", "args": {"command": "ls"}},
                     "thoughtSignature": "s3"},
                    {"functionCall": {"id": "c2", "name": "read", "args": {}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "shell", "response": {"output": "a"}}},
                    {"functionResponse": {"id": "c2", "name": "read",
                                          "response": {"error": "no such file"}}},
                    {"functionResponse": {"name": "read", "response": {"lines": 2}}},
                ]},
            ],
        });

        let read = read(&body);

        assert_eq!(read.to_string(), "gemini-x, 3 tools, 3 messages");
        assert_eq!((read.stream, read.max_tokens), (true, Some(900)));
        assert_eq!(read.effort.as_deref(), Some("low"));
        assert_eq!(read.system_texts(), ["Be brief."]);
        assert_eq!(read.user_texts(), ["go"]);
        let schema = |name| read.tool(name).unwrap().input_schema.clone();
        assert_eq!(schema("shell"), json!({"type": "OBJECT"}));
        assert_eq!(schema("read"), json!({"type": "object"}));
        assert_eq!(schema("googleSearch"), Value::Null);
        assert_eq!(read.signatures(), ["s1", "s2", "s3"]);
        let second = PromptBlock::ToolUse {
            id: "c2".into(),
            name: "read".into(),
            input: json!({}),
            signature: None,
        };
        assert_eq!(read.messages[1].content[3], second);
        let results = read.tool_results();
        let fields = results.iter().map(|result| {
            let name = result.name.as_deref().unwrap();
            (
                result.tool_use_id.as_str(),
                name,
                result.text.as_str(),
                result.is_error,
            )
        });
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                ("", "shell", "a", false),
                ("c2", "read", "no such file", true),
                ("", "read", r#"{"lines":2}"#, false),
            ]
        );
        assert_eq!(read.raw, body);
    }

    #[test]
    fn thinking_budget_is_parsed() {
        for (config, thinking) in [
            (json!({"thinkingBudget": -1}), Thinking::Adaptive),
            (json!({"thinkingBudget": 0}), Thinking::Disabled),
            (
                json!({"thinkingBudget": 512}),
                Thinking::Enabled { budget_tokens: 512 },
            ),
            (
                json!({"includeThoughts": true}),
                Thinking::Other(json!({"includeThoughts": true})),
            ),
        ] {
            let settings = json!({"thinkingConfig": config});
            let body = json!({"contents": [], "generationConfig": settings});
            assert_eq!(read(&body).thinking, Some(thinking), "{config}");
        }
        assert_eq!(read(&json!({"contents": []})).thinking, None);
    }

    #[test]
    fn a_request_in_an_envelope_is_read() {
        let inner = json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}]});

        assert_eq!(
            read(&json!({"generateContentRequest": inner})).user_texts(),
            ["go"]
        );
    }

    #[test]
    fn invalid_request_is_refused_with_the_reason() {
        for (body, reason) in [
            ("{", "the body of the request is not JSON: "),
            ("{}", "the request has no contents"),
        ] {
            let error = prompt(body.as_bytes(), "m", Answered::Whole).unwrap_err();
            assert!(error.starts_with(reason), "{body}: {error}");
        }
    }
}
