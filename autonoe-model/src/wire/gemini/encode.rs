//! Encoding of requests for the Gemini API.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::conversation;
use crate::contract::{ModelRequest, ToolChoice};

/// Returns the body of a request.
pub(super) fn body(model: &str, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    if let Some(system) = request.system.as_deref()
        && !system.trim().is_empty()
    {
        body.insert(
            "systemInstruction".into(),
            json!({"parts": [{"text": system}]}),
        );
    }
    let contents = conversation::contents(model, &request.messages);
    body.insert("contents".into(), contents.into());
    if !request.tools.is_empty() {
        let tool = |tool: &autonoe_core::tool::ToolDefinition| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.input_schema,
            })
        };
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": tools}]));
        if let Some(mode) = calling_mode(request.tool_choice) {
            let config = json!({"functionCallingConfig": {"mode": mode}});
            body.insert("toolConfig".into(), config);
        }
    }
    let mut generation = Map::new();
    if let Some(tokens) = request.max_output_tokens {
        generation.insert("maxOutputTokens".into(), tokens.into());
    }
    if let Some(budget) = request.thinking {
        let config = json!({"thinkingBudget": budget.tokens(), "includeThoughts": true});
        generation.insert("thinkingConfig".into(), config);
    }
    if !generation.is_empty() {
        body.insert("generationConfig".into(), generation.into());
    }
    body.into()
}

fn calling_mode(choice: ToolChoice) -> Option<&'static str> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some("ANY"),
        ToolChoice::None => Some("NONE"),
    }
}

/// Returns the URL path of a model: `gemini-2.5-pro`, `models/gemini-2.5-pro`, `tunedModels/mine`.
pub(super) fn model_path(model: &str) -> String {
    let folder = if model.contains('/') { "" } else { "models/" };
    let mut path = format!("/v1beta/{folder}");
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b'@' => {
                path.push(char::from(byte));
            }
            // Escaped, so that a name cannot become another path.
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path.push_str(":streamGenerateContent?alt=sse");
    path
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::ThinkingBudget;
    use autonoe_core::tool::ToolDefinition;

    use super::*;

    fn read() -> ToolDefinition {
        ToolDefinition::new("Read", "Reads a file.", json!({"type": "object"}))
    }

    #[test]
    fn a_whole_request_is_as_the_api_wants_it() {
        let request = ModelRequest::prompt("Look around.")
            .with_system("Be terse.".to_owned())
            .with_tools([read()])
            .with_tool_choice(ToolChoice::Required)
            .with_max_output_tokens(9_000)
            .with_thinking(ThinkingBudget::new(4_000).expect("enough"));

        let expected = json!({
            "systemInstruction": {"parts": [{"text": "Be terse."}]},
            "contents": [{"role": "user", "parts": [{"text": "Look around."}]}],
            "tools": [{"functionDeclarations": [{
                "name": "Read",
                "description": "Reads a file.",
                "parametersJsonSchema": {"type": "object"},
            }]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "generationConfig": {
                "maxOutputTokens": 9_000,
                "thinkingConfig": {"thinkingBudget": 4_000, "includeThoughts": true},
            },
        });
        assert_eq!(body("gemini-2.5-pro", &request), expected);
    }

    #[test]
    fn unset_options_are_not_sent() {
        let request = ModelRequest::prompt("Hi.")
            .with_system(String::new())
            .with_tool_choice(ToolChoice::None);

        let expected = json!({"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]});
        assert_eq!(body("m", &request), expected);
    }

    #[test]
    fn a_choice_of_tools_has_its_mode() {
        for (choice, expected) in [
            (ToolChoice::Auto, Value::Null),
            (ToolChoice::Required, json!("ANY")),
            (ToolChoice::None, json!("NONE")),
        ] {
            let request = ModelRequest::prompt("Hi.").with_tools([read()]);
            let body = body("m", &request.with_tool_choice(choice));

            assert_eq!(
                body["toolConfig"]["functionCallingConfig"]["mode"],
                expected
            );
        }
    }

    #[test]
    fn a_model_has_its_path() {
        for (model, expected) in [
            ("gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("models/gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("tunedModels/mine-1", "tunedModels/mine-1"),
            ("a?b#c d", "models/a%3Fb%23c%20d"),
            ("ü", "models/%C3%BC"),
        ] {
            let expected = format!("/v1beta/{expected}:streamGenerateContent?alt=sse");
            assert_eq!(model_path(model), expected);
        }
    }
}
