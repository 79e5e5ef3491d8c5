//! Encoding shared by both protocols of OpenAI.

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::Attachment;
use serde_json::{Value, json};

use crate::contract::ToolResult;
use crate::wire::base64;

/// Parses the arguments of a finished call: a text if the model wrote invalid JSON.
///
/// For a tool without arguments, models often write nothing at all.
pub(in crate::wire) fn read_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Formats the arguments of a call.
pub(in crate::wire) fn write_arguments(input: &Value) -> String {
    match input {
        Value::String(no_json) => no_json.clone(),
        input => input.to_string(),
    }
}

/// Representation of a file for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::wire) enum FileContent {
    /// An image, as a `data:` URL.
    Image(String),
    /// A document, as its name and a `data:` URL.
    Document { name: String, url: String },
    /// A text: the content of the file, or that it cannot be shown.
    Text(String),
}

/// Returns the representation of `file`.
pub(in crate::wire) fn file_content(file: &Attachment) -> FileContent {
    let media_type = file.media_type.to_ascii_lowercase();
    match media_type.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            FileContent::Image(data_url(&media_type, file))
        }
        "application/pdf" => FileContent::Document {
            name: file.name.clone().unwrap_or_else(|| "file.pdf".into()),
            url: data_url(&media_type, file),
        },
        _ => FileContent::Text(file.to_text()),
    }
}

fn data_url(media_type: &str, file: &Attachment) -> String {
    format!("data:{media_type};base64,{}", base64(file))
}

/// Minimum tokens of each effort, highest first. Only the three that every reasoning model
/// supports: `minimal`, `none` and `xhigh` depend on the model.
const EFFORTS: [(u32, &str); 3] = [(16_384, "high"), (4_096, "medium"), (0, "low")];

/// Returns the effort nearest to a budget of tokens.
pub(in crate::wire) fn effort(budget: ThinkingBudget) -> &'static str {
    let found = EFFORTS
        .iter()
        .find(|(least, _)| budget.tokens() >= *least)
        .map(|(_, effort)| *effort);
    found.unwrap_or("low")
}

/// Returns the schema of a tool's input. The service rejects an object without `properties`, so an
/// empty one is added.
pub(in crate::wire) fn parameters(schema: &Value) -> Value {
    let mut schema = schema.clone();
    match schema.as_object_mut() {
        Some(object) => {
            object.entry("type").or_insert_with(|| "object".into());
            if object["type"] == "object" {
                object.entry("properties").or_insert_with(|| json!({}));
            }
            schema
        }
        None => json!({"type": "object", "properties": {}}),
    }
}

/// Returns the text of a result for the model. These protocols have no flag for a failed call, so
/// its text starts with one.
pub(in crate::wire) fn result_text(result: &ToolResult) -> String {
    if result.is_error {
        format!("Error: {}", result.output)
    } else {
        result.output.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_json_or_else_a_text() {
        let table = [
            (r#"{"path": "a"}"#, json!({"path": "a"})),
            ("", json!({})),
            (" \n", json!({})),
            (r#"{"path": "a"#, json!(r#"{"path": "a"#)),
            ("a", json!("a")),
            ("null", json!(null)),
            ("[1]", json!([1])),
        ];

        for (text, expected) in table {
            assert_eq!(read_arguments(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_json_arguments_are_sent_unchanged() {
        assert_eq!(write_arguments(&json!(r#"{"path": "#)), r#"{"path": "#);
        assert_eq!(write_arguments(&json!({"path": "a"})), r#"{"path":"a"}"#);
    }

    fn file(media_type: &str, name: Option<&str>) -> Attachment {
        Attachment {
            media_type: media_type.into(),
            name: name.map(Into::into),
            data: b"abc".as_slice().into(),
        }
    }

    // Shows: framework/tools/attachment-types
    #[test]
    fn images_and_documents_are_sent_and_other_files_described() {
        assert_eq!(
            file_content(&file("image/PNG", None)),
            FileContent::Image("data:image/png;base64,YWJj".into())
        );
        assert_eq!(
            file_content(&file("application/pdf", Some("a.pdf"))),
            FileContent::Document {
                name: "a.pdf".into(),
                url: "data:application/pdf;base64,YWJj".into(),
            }
        );
        for (media_type, name) in [("text/plain", "a.txt"), ("video/mp4", "a.mp4")] {
            let file = file(media_type, Some(name));
            assert_eq!(file_content(&file), FileContent::Text(file.to_text()));
        }
    }

    #[test]
    fn a_budget_of_tokens_becomes_an_effort() {
        let table = [
            (ThinkingBudget::MIN_TOKENS, "low"),
            (4_095, "low"),
            (4_096, "medium"),
            (ThinkingBudget::default().tokens(), "medium"),
            (16_383, "medium"),
            (16_384, "high"),
            (u32::MAX, "high"),
        ];

        for (tokens, expected) in table {
            let budget = ThinkingBudget::new(tokens).expect("it is enough");
            assert_eq!(effort(budget), expected, "{tokens} tokens");
        }
    }

    #[test]
    fn object_schemas_always_have_properties() {
        let nothing = json!({"type": "object", "properties": {}});
        let something = json!({"type": "object", "properties": {"a": {"type": "string"}}});

        assert_eq!(parameters(&json!({"type": "object"})), nothing);
        assert_eq!(parameters(&json!({})), nothing);
        assert_eq!(parameters(&json!(true)), nothing);
        assert_eq!(parameters(&something), something);
    }

    #[test]
    fn a_failure_reads_as_one() {
        assert_eq!(result_text(&ToolResult::ok("1", "Read", "text")), "text");
        assert_eq!(
            result_text(&ToolResult::failed("1", "Read", "no such file")),
            "Error: no such file"
        );
    }
}
