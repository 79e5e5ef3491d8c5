//! Encoding of requests for the Responses protocol, with the [`ResponsesOptions`] of the model and the account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::item::{input_items, sendable_len};
use crate::contract::{Message, ModelRequest, ToolChoice, ToolResult};
use crate::wire::Encoded;
use crate::wire::openai::{FileContent, effort, file_content, parameters, result_text};

/// Encodes a request to `model`.
pub(super) fn encode(options: &ResponsesOptions, model: &str, request: &ModelRequest) -> Encoded {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("input".into(), input(request).into());
    body.insert("store".into(), false.into());
    body.insert("stream".into(), true.into());
    if let Some(system) = &request.system {
        body.insert("instructions".into(), system.as_str().into());
    }
    if let Some(most) = request.max_output_tokens {
        body.insert("max_output_tokens".into(), most.into());
    }
    if options.reasoning_models.contains(model) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        let reasoning = reasoning(options, request);
        if !reasoning.is_empty() {
            body.insert("reasoning".into(), reasoning.into());
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
        path: "/responses".into(),
        headers: Vec::new(),
        body: body.into(),
    }
}

fn reasoning(options: &ResponsesOptions, request: &ModelRequest) -> Map<String, Value> {
    let mut reasoning = Map::new();
    if let Some(budget) = request.thinking {
        reasoning.insert("effort".into(), effort(budget).into());
    }
    if let Some(summary) = options.summary {
        reasoning.insert("summary".into(), summary.as_str().into());
    }
    reasoning
}

fn tools(request: &ModelRequest) -> Value {
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters(&tool.input_schema),
            // Strict mode would require every property.
            "strict": false,
        })
    });
    tools.collect()
}

fn input(request: &ModelRequest) -> Vec<Value> {
    let mut input = Vec::new();
    for message in &request.messages {
        match message {
            Message::User { text } => input.push(json!({
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": text}],
            })),
            Message::Assistant(answer) => {
                let mut items = input_items(answer);
                items.truncate(sendable_len(&items));
                input.extend(items);
            }
            Message::Results { results } => input.extend(results.iter().map(output)),
        }
    }
    input
}

fn output(result: &ToolResult) -> Value {
    let text = result_text(result);
    let output = if result.attachments.is_empty() {
        Value::String(text)
    } else {
        let words = json!({"type": "input_text", "text": text});
        let files = result
            .attachments
            .iter()
            .map(|file| match file_content(file) {
                FileContent::Image(url) => json!({"type": "input_image", "image_url": url}),
                FileContent::Document { name, url } => {
                    json!({"type": "input_file", "filename": name, "file_data": url})
                }
                FileContent::Text(words) => json!({"type": "input_text", "text": words}),
            });
        std::iter::once(words).chain(files).collect()
    };
    json!({"type": "function_call_output", "call_id": result.call_id, "output": output})
}

/// Options that depend on the model and the account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponsesOptions {
    /// Models that reason before they answer.
    pub(crate) reasoning_models: ReasoningModels,
    /// Format of reasoning summaries.
    pub(crate) summary: Option<ReasoningSummary>,
}

/// Models that reason before they answer. Other models reject requests for reasoning, and these
/// models need their own reasoning back to continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningModels {
    /// All except those with known names: `gpt-4..`, `gpt-3.5..`, `chatgpt-..`, `..-chat..`.
    #[default]
    ByName,
    /// All models.
    Always,
    /// No models.
    Never,
}

impl ReasoningModels {
    /// Returns whether `model` reasons before it answers.
    pub(crate) fn contains(self, model: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::ByName => {
                let silent = ["gpt-4", "gpt-3.5", "chatgpt-"];
                // A fine-tuned model has the name of its base model: `ft:gpt-4.1-mini:acme::1`.
                let name = model.strip_prefix("ft:").unwrap_or(model);
                !silent.iter().any(|begin| name.starts_with(begin)) && !name.contains("-chat")
            }
        }
    }
}

/// Format of reasoning summaries. The service never shows the reasoning itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningSummary {
    /// Chosen by the service.
    Auto,
    /// Short.
    Concise,
    /// Long.
    Detailed,
}

impl ReasoningSummary {
    /// Returns the name in the protocol.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Concise => "concise",
            Self::Detailed => "detailed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_name_determines_reasoning_support() {
        let table = [
            ("gpt-5", true),
            ("gpt-5.1-codex", true),
            ("o3", true),
            ("o4-mini", true),
            ("codex-mini-latest", true),
            ("gpt-4o-mini", false),
            ("gpt-4.1", false),
            ("gpt-3.5-turbo", false),
            ("gpt-5-chat-latest", false),
            ("chatgpt-4o-latest", false),
            ("ft:gpt-4.1-mini:acme::1", false),
        ];

        for (model, thinks) in table {
            assert_eq!(ReasoningModels::ByName.contains(model), thinks, "{model}");
            assert!(ReasoningModels::Always.contains(model));
            assert!(!ReasoningModels::Never.contains(model));
        }
    }
}
