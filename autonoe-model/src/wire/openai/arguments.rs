//! What a tool is called with: a text that should be JSON.

use serde_json::{Value, json};

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
}
