//! Reads plugin specs and locates their errors with the registered schemas.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::json_part::{below, inside, kind};
use crate::project::json_error_message;
use crate::spec::{SpecEntry, SpecPort, registered_specs};

/// Reads a spec of `port`. The error begins with the pointer to the wrong value.
///
/// Specs are trait objects, which serde reads through a copy, so its errors have no position. The
/// registered schema shows which field has the wrong type.
pub fn read_spec<T: DeserializeOwned>(port: SpecPort, value: &Value) -> Result<T, String> {
    let Some(fields) = value.as_object() else {
        return Err(format!("expected an object, found {}", kind(value)));
    };
    let tag = match fields.get("type") {
        Some(Value::String(tag)) => tag,
        Some(other) => return Err(format!("/type: expected a string, found {}", kind(other))),
        None => {
            let (port, known) = (port.name(), known(port));
            return Err(format!("the {port} has no `type`; {known}"));
        }
    };
    T::deserialize(value).map_err(|error| {
        let specs = registered_specs(port);
        match specs.iter().find(|spec| spec.tag == tag) {
            Some(spec) => mistake(spec, value, json_error_message(&error)),
            None => inside("/type", &unknown_spec(port, tag)),
        }
    })
}

/// Returns the message that no spec of `port` has the type `tag`.
pub(super) fn unknown_spec(port: SpecPort, tag: &str) -> String {
    format!("unknown {} `{tag}`; {}", port.name(), known(port))
}

fn known(port: SpecPort) -> String {
    let specs = registered_specs(port);
    let tags: Vec<String> = specs.iter().map(|spec| format!("`{}`", spec.tag)).collect();
    if tags.is_empty() {
        "none is registered in this program".to_owned()
    } else {
        format!("known are {}", tags.join(", "))
    }
}

/// Adds the field and an example to a message.
fn mistake(spec: &SpecEntry, value: &Value, message: String) -> String {
    let example = (spec.example)();
    let schema = (spec.schema)().to_value();
    let mut fields = value.as_object().into_iter().flatten();
    let wrong = fields.find_map(|(name, found)| {
        let (expected, any) = expected_kind(&schema["properties"][name], &schema)?;
        (kind(found) != expected).then_some((name, found, expected, any))
    });
    match wrong {
        Some((name, found, expected, any)) if message.starts_with("expected ") => {
            let registered = example.get(name).map(Value::to_string);
            let example = registered.as_deref().unwrap_or(any);
            let found = kind(found);
            let message = format!("expected {expected}, found {found}; for example `{example}`");
            inside(&below("", name), &message)
        }
        _ if message.contains("; ") => message,
        _ => format!("{message}; for example `{example}`"),
    }
}

/// Returns the only kind of value that `property` of `schema` allows, and an example.
fn expected_kind(property: &Value, schema: &Value) -> Option<(&'static str, &'static str)> {
    let target = property["$ref"]
        .as_str()
        .and_then(|to| to.strip_prefix('#'));
    let property = target.map_or(Some(property), |target| schema.pointer(target))?;
    match property["type"].as_str()? {
        "string" => Some(("a string", "\"text\"")),
        "boolean" => Some(("a boolean", "true")),
        "integer" | "number" => Some(("a number", "1")),
        "array" => Some(("a list", "[]")),
        "object" => Some(("an object", "{}")),
        _ => None,
    }
}
