//! Parts of requests that both protocols of OpenAI share.

use autonoe_core::{Attachment, ThinkingBudget};
use serde_json::{Value, json};

use crate::contract::ToolResult;
use crate::wire::attachment::base64;

/// Returns what a finished call is called with: a text if the model wrote no JSON.
///
/// A model that has nothing to say to a tool often writes nothing at all.
pub(in crate::wire) fn read_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Writes down what a tool was called with.
pub(in crate::wire) fn write_arguments(input: &Value) -> String {
    match input {
        Value::String(no_json) => no_json.clone(),
        input => input.to_string(),
    }
}

/// How a model sees a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Shown {
    /// As a picture, by a `data:` URL.
    Picture(String),
    /// As a document, by its name and a `data:` URL.
    Document { name: String, url: String },
    /// As words: what is in it, or that it cannot be shown.
    Words(String),
}

/// Says how a model sees `file`.
pub(in crate::wire) fn shown(file: &Attachment) -> Shown {
    let media_type = file.media_type.to_ascii_lowercase();
    match media_type.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            Shown::Picture(data_url(&media_type, file))
        }
        "application/pdf" => Shown::Document {
            name: file.name.clone().unwrap_or_else(|| "file.pdf".into()),
            url: data_url(&media_type, file),
        },
        _ => Shown::Words(file.to_text()),
    }
}

fn data_url(media_type: &str, file: &Attachment) -> String {
    format!("data:{media_type};base64,{}", base64(file))
}

/// The least tokens of each effort, the most first. Only the three that every reasoning model
/// knows: `minimal`, `none` and `xhigh` come and go from model to model.
const EFFORTS: [(u32, &str); 3] = [(16_384, "high"), (4_096, "medium"), (0, "low")];

/// Returns the effort that comes nearest to a budget of tokens.
pub(in crate::wire) fn effort(budget: ThinkingBudget) -> &'static str {
    let found = EFFORTS
        .iter()
        .find(|(least, _)| budget.tokens() >= *least)
        .map(|(_, effort)| *effort);
    found.unwrap_or("low")
}

/// Returns the schema of a tool's input. An object that says nothing of its properties is
/// refused, so it says that it has none.
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

/// Returns what the model reads of a result. These protocols have no mark for a call that
/// failed, so its words begin with one.
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
    fn what_was_no_json_is_written_as_it_was() {
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

    #[test]
    fn pictures_and_documents_are_sent_and_the_rest_is_put_into_words() {
        assert_eq!(
            shown(&file("image/PNG", None)),
            Shown::Picture("data:image/png;base64,YWJj".into())
        );
        assert_eq!(
            shown(&file("application/pdf", Some("a.pdf"))),
            Shown::Document {
                name: "a.pdf".into(),
                url: "data:application/pdf;base64,YWJj".into(),
            }
        );
        for (media_type, name) in [("text/plain", "a.txt"), ("video/mp4", "a.mp4")] {
            let file = file(media_type, Some(name));
            assert_eq!(shown(&file), Shown::Words(file.to_text()));
        }
    }

    #[test]
    fn a_budget_of_tokens_becomes_an_effort() {
        let table = [
            (ThinkingBudget::LEAST, "low"),
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
    fn an_object_always_says_which_properties_it_has() {
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
