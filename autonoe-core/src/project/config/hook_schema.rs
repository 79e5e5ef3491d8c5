//! The JSON Schema of hooks.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::port::{SpecEntry, SpecPort, registered_specs};

/// Returns the schema of a list of the hooks that this program knows.
pub(super) fn hooks_schema(generator: &mut SchemaGenerator) -> Schema {
    let specs = registered_specs(SpecPort::Hook);
    let hooks: Vec<Value> = specs
        .iter()
        .map(|spec| hook_schema(spec, generator))
        .collect();
    let schema = json!({"type": "array", "items": {"oneOf": hooks}});
    Schema::try_from(schema).unwrap_or_default()
}

/// Returns the schema of one hook: its fields and its tag.
fn hook_schema(spec: &SpecEntry, generator: &mut SchemaGenerator) -> Value {
    let mut schema = (spec.schema)().to_value();
    // Two specs may each define another `Mode`, so names are told apart by the tag.
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
