//! Encoding of requests for Chat Completions.

use autonoe_core::tool::Attachment;
use serde_json::{Map, Value, json};

use super::dialect::{ChatDialect, LimitField, Pictures, StreamUsage, ThinkingField};
use super::message::assistant;
use crate::contract::{Message, ModelRequest, ToolChoice, ToolResult};
use crate::wire::Encoded;
use crate::wire::openai::{FileContent, effort, file_content, parameters, result_text};

/// Encodes a request to `model`.
pub(super) fn encode(dialect: &ChatDialect, model: &str, request: &ModelRequest) -> Encoded {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), messages(dialect, request).into());
    body.insert("stream".into(), true.into());
    if dialect.stream_usage == StreamUsage::Ask {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(most) = request.max_output_tokens {
        let field = match dialect.limit {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), most.into());
    }
    if let Some(budget) = request.thinking {
        match dialect.thinking {
            ThinkingField::ReasoningEffort => {
                body.insert("reasoning_effort".into(), effort(budget).into());
            }
            ThinkingField::Reasoning => {
                body.insert("reasoning".into(), json!({"max_tokens": budget.tokens()}));
            }
            ThinkingField::None => {}
        }
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(request));
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::Required => "required",
            ToolChoice::None => "none",
        };
        body.insert("tool_choice".into(), choice.into());
    }
    Encoded {
        path: "/chat/completions".into(),
        headers: Vec::new(),
        body: body.into(),
    }
}

fn tools(request: &ModelRequest) -> Value {
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": parameters(&tool.input_schema),
            },
        })
    });
    tools.collect()
}

fn messages(dialect: &ChatDialect, request: &ModelRequest) -> Vec<Value> {
    let system = request.system.as_ref();
    let mut messages: Vec<Value> = system
        .map(|text| json!({"role": "system", "content": text}))
        .into_iter()
        .collect();
    for message in &request.messages {
        match message {
            Message::User { text } => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant(answer) => messages.extend(assistant(dialect, answer)),
            Message::Results { results } => {
                messages.extend(results.iter().map(|result| tool(dialect, result)));
                messages.extend(pictures(dialect, results));
            }
        }
    }
    messages
}

/// Encodes a result. It only supports text, so files are mentioned, unless they follow as images.
fn tool(dialect: &ChatDialect, result: &ToolResult) -> Value {
    let files = result.attachments.iter();
    let words: String = files
        .filter(|file| picture(dialect, file).is_none())
        .map(|file| format!("\n{}", file.to_text()))
        .collect();
    let content = result_text(result) + &words;
    json!({"role": "tool", "tool_call_id": result.call_id, "content": content})
}

/// Encodes the images of results. Only a user message may contain images, so it follows after all
/// results.
fn pictures(dialect: &ChatDialect, results: &[ToolResult]) -> Option<Value> {
    let mut content = Vec::new();
    for result in results {
        let urls: Vec<String> = result
            .attachments
            .iter()
            .filter_map(|file| picture(dialect, file))
            .collect();
        if !urls.is_empty() {
            let words = format!(
                "Images in the result of {} ({}):",
                result.name, result.call_id
            );
            content.push(json!({"type": "text", "text": words}));
        }
        for url in urls {
            content.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
    }
    (!content.is_empty()).then(|| json!({"role": "user", "content": content}))
}

fn picture(dialect: &ChatDialect, file: &Attachment) -> Option<String> {
    match (dialect.pictures, file_content(file)) {
        (Pictures::Send, FileContent::Image(url)) => Some(url),
        _ => None,
    }
}
