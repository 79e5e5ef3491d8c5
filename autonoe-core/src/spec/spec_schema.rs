//! JSON Schema of a value that is one of the registered specs.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::spec::{SpecEntry, SpecPort, registered_specs};

/// Returns the schema of one spec of `port`, for a field that holds one.
///
/// ```
/// use autonoe_core::spec::{SpecPort, spec_schema};
/// use schemars::{JsonSchema, Schema, SchemaGenerator, schema_for};
///
/// fn hook(generator: &mut SchemaGenerator) -> Schema {
///     spec_schema(SpecPort::Hook, generator)
/// }
///
/// #[derive(JsonSchema)]
/// struct Settings {
///     #[schemars(schema_with = "hook")]
///     hook: String,
/// }
///
/// let schema = schema_for!(Settings).to_value();
/// assert!(schema["properties"]["hook"]["oneOf"].is_array());
/// ```
pub fn spec_schema(port: SpecPort, generator: &mut SchemaGenerator) -> Schema {
    let specs: Vec<Value> = registered_specs(port)
        .iter()
        .map(|spec| tagged(spec, generator))
        .collect();
    Schema::try_from(json!({"oneOf": specs})).unwrap_or_default()
}

/// Returns the schema of one spec: its fields and its tag.
fn tagged(spec: &SpecEntry, generator: &mut SchemaGenerator) -> Value {
    let mut schema = (spec.schema)().to_value();
    // Two specs may define different types of the same name, so the tag becomes part of the names.
    rename_references(&mut schema, spec.tag);
    schema["properties"]["type"] = json!({"const": spec.tag});
    match schema["required"].as_array_mut() {
        Some(required) => required.push("type".into()),
        None => schema["required"] = json!(["type"]),
    }
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        if let Some(Value::Object(definitions)) = object.remove("$defs") {
            let named = definitions
                .into_iter()
                .map(|(name, definition)| (format!("{}.{name}", spec.tag), definition));
            generator.definitions_mut().extend(named);
        }
    }
    schema
}

fn rename_references(value: &mut Value, tag: &str) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(target) if name == "$ref" => {
                        *target = target.replace("#/$defs/", &format!("#/$defs/{tag}."));
                    }
                    _ => rename_references(value, tag),
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rename_references(item, tag)),
        _ => {}
    }
}
