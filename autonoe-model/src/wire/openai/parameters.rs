//! The schema of a tool's input, as the service accepts it.

use serde_json::{Value, json};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_always_says_which_properties_it_has() {
        let nothing = json!({"type": "object", "properties": {}});
        let something = json!({"type": "object", "properties": {"a": {"type": "string"}}});

        assert_eq!(parameters(&json!({"type": "object"})), nothing);
        assert_eq!(parameters(&json!({})), nothing);
        assert_eq!(parameters(&json!(true)), nothing);
        assert_eq!(parameters(&something), something);
    }
}
