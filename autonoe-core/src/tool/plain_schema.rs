//! JSON Schemas with Rust examples removed from the descriptions.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the JSON Schema for deserialising a `T`, without Rust examples in its descriptions.
///
/// Agents and editors read these schemas, and Rust examples would only distract them.
///
/// ```
/// use autonoe_core::ledger::DeliverableId;
/// use autonoe_core::tool::plain_schema;
///
/// let schema = plain_schema::<DeliverableId>();
///
/// assert!(!schema.to_value().to_string().contains("autonoe_core"));
/// ```
pub fn plain_schema<T: JsonSchema>() -> Schema {
    plain::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the JSON Schema of a serialised `T`, without Rust examples in its descriptions.
///
/// It guarantees more than [`plain_schema`], which lists what a reader accepts: optional fields are
/// always present, and a value with several accepted notations has one.
///
/// ```
/// use autonoe_core::tool::{plain_output_schema, plain_schema};
/// use autonoe_core::CostUsd;
///
/// let (read, written) = (plain_schema::<CostUsd>(), plain_output_schema::<CostUsd>());
///
/// assert_eq!(read.get("type"), Some(&["string", "number"].into()));
/// assert_eq!(written.get("type"), Some(&"string".into()));
/// ```
pub fn plain_output_schema<T: JsonSchema>() -> Schema {
    plain::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
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
