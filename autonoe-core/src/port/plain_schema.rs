//! JSON Schemas for readers who do not write Rust.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the JSON Schema of what is read as `T`, with the examples in Rust left out of its descriptions.
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
    plain::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the JSON Schema of what is written of a `T`, in the manner of [`plain_schema`].
///
/// It promises more than what is asked of a reader: a field that may be left out is there, and
/// of several ways to write a value there is one.
///
/// ```
/// use autonoe_core::{CostUsd, plain_output_schema, plain_schema};
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
