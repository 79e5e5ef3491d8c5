//! Encoding of requests and of earlier answers for Chat Completions.

use autonoe_core::tool::Attachment;
use serde_json::{Map, Value, json};

use super::PROTOCOL;
use super::dialect::{
    CallArguments, ChatDialect, LimitField, Pictures, ReasoningField, StreamUsage, ThinkingField,
};
use crate::contract::{
    AssistantMessage, Message, MessagePart, ModelRequest, PartKind, ToolChoice, ToolResult,
};
use crate::wire::Encoded;
use crate::wire::openai::{
    FileContent, effort, file_content, parameters, read_arguments, result_text, write_arguments,
};

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

/// Encodes an answer: its own parts in their original form, others by their meaning. An answer
/// without text and calls is omitted, because it would be rejected.
pub(super) fn assistant(dialect: &ChatDialect, answer: &AssistantMessage) -> Option<Value> {
    let mut message = Map::new();
    let mut content = String::new();
    let mut calls = Vec::new();
    for part in &answer.parts {
        let own = part.wire_item(PROTOCOL);
        match &part.kind {
            PartKind::Text { text } => match own.and_then(Value::as_object) {
                Some(fields) if !fields.contains_key("content") => message.extend(fields.clone()),
                _ => content += text,
            },
            PartKind::Thinking { .. } => message.extend(own.and_then(|item| echo(dialect, item))),
            PartKind::ToolCall { .. } => calls.extend(call(dialect, part)),
            PartKind::Opaque => {
                let fields = own.and_then(Value::as_object).cloned();
                message.extend(fields.unwrap_or_default());
            }
        }
    }
    let has_content = !content.is_empty() || message.contains_key("refusal");
    if !has_content && calls.is_empty() {
        return None;
    }
    message.insert("role".into(), "assistant".into());
    let content = (!content.is_empty()).then_some(content);
    message.insert("content".into(), content.into());
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    Some(message.into())
}

/// Returns the reasoning field that the service requires in later requests.
fn echo(dialect: &ChatDialect, item: &Value) -> Option<(String, Value)> {
    let fields = dialect.echo.iter().copied().map(ReasoningField::as_str);
    fields
        .filter_map(|field| Some((field.to_owned(), item.get(field)?.clone())))
        .next()
}

fn call(dialect: &ChatDialect, part: &MessagePart) -> Option<Value> {
    let PartKind::ToolCall { id, name, input } = &part.kind else {
        return None;
    };
    let mut item = match part.wire_item(PROTOCOL) {
        Some(item) => item.clone(),
        None => json!({
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": write_arguments(input)},
        }),
    };
    if dialect.arguments == CallArguments::Object
        && let Some(Value::String(arguments)) = item.pointer_mut("/function/arguments")
    {
        *arguments = as_object(std::mem::take(arguments));
    }
    Some(item)
}

/// Returns arguments that are an object: unchanged, if they are one.
fn as_object(arguments: String) -> String {
    match read_arguments(&arguments) {
        Value::Object(object) if object.is_empty() => "{}".into(),
        Value::Object(_) => arguments,
        _ => json!({"arguments": arguments}).to_string(),
    }
}
