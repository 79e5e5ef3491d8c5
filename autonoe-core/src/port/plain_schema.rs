//! JSON Schemas for readers who do not write Rust.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value;

/// Returns the JSON Schema of `T`, with the examples in Rust left out of its descriptions.
///
/// Agents and editors read schemas; what helps a Rust engineer is noise to them.
///
/// ```
/// use autonoe_core::{DeliverableId, plain_schema};
///
/// let schema = plain_schema::<DeliverableId>();
///
/// assert!(!schema.to_value().to_string().contains("autonoe_core"));
/// ```
pub fn plain_schema<T: JsonSchema>() -> Schema {
    let mut schema = schema_for!(T);
    RecursiveTransform(cut_examples).transform(&mut schema);
    schema
}

fn cut_examples(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::String(description)) = object.get_mut("description")
        && let Some(example) = description.find("```")
    {
        description.truncate(description[..example].trim_end().len());
    }
}
