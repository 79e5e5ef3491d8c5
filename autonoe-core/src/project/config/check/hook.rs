//! What must be true of a hook: what its spec registered says.

use serde_json::{Map, Value};

use super::Checked;
use crate::port::{HookSpec, SpecEntry, SpecPort, registered_specs};
use crate::project::config::cursor::Cursor;
use crate::project::config::expected::Expected;
use crate::project::config::suggest::suggest;
use crate::project::config::{ConfigError, ConfigErrorKind};
use crate::project::json_words::placeless_complaint;

const HOOK: Expected<'_> = Expected::new(
    "a hook",
    r#"{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}"#,
);
const TAG: Expected<'_> = Expected::new("the type of a hook", r#""core-deny-tool""#);

pub(super) fn hook(item: &Cursor<'_>) -> Checked {
    let fields = item.fields(HOOK)?;
    let Some((_, tag)) = fields.iter().find(|(name, _)| *name == "type") else {
        let message = "the hook has no `type`";
        return Err(item
            .error(ConfigErrorKind::Hook, message)
            .hint(known_hooks()));
    };
    let name = tag.string(TAG)?;
    let specs = registered_specs(SpecPort::Hook);
    let spec = specs.iter().find(|spec| spec.tag == name);
    if let Some(spec) = spec {
        fits_schema(item, spec)?;
    }
    let Err(error) = serde_json::from_str::<Box<dyn HookSpec>>(item.text()) else {
        return Ok(());
    };
    if let Some(spec) = spec {
        return Err(not_whole(item, spec, &placeless_complaint(&error)));
    }
    let hint = match suggest(name, specs.iter().map(|spec| spec.tag)) {
        Some(meant) => format!("did you mean `{meant}`? ({})", known_hooks()),
        None => known_hooks(),
    };
    let message = format!("this program knows no hook of the type `{name}`");
    Err(tag.error(ConfigErrorKind::Hook, message).hint(hint))
}

/// Checks fields and their types, because serde does not say at which field it stopped.
fn fits_schema(item: &Cursor<'_>, spec: &SpecEntry) -> Checked {
    let schema = (spec.schema)().to_value();
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let fields = if schema["additionalProperties"] == Value::Bool(false) {
        let known = properties.keys().map(String::as_str).chain(["type"]);
        item.known_fields(HOOK, &known.collect::<Vec<_>>())?
    } else {
        // A spec that takes any field has no such word in its schema.
        item.fields(HOOK)?
    };
    let needed = schema["required"].as_array().into_iter().flatten();
    for name in needed.filter_map(Value::as_str) {
        if !fields.iter().any(|(field, _)| *field == name) {
            let message = format!("the hook has no `{name}`");
            return Err(not_whole(item, spec, &message));
        }
    }
    for (name, field) in fields {
        let property = properties.get(name);
        let Some((what, any)) = property.and_then(|property| kind_of(property, &schema)) else {
            continue;
        };
        if field.node.kind() != what {
            let registered = (spec.example)().get(name).map(Value::to_string);
            let example = registered.as_deref().unwrap_or(any);
            return Err(field.wrong_type(Expected::new(what, example)));
        }
    }
    Ok(())
}

/// Returns the one kind of value that `property` of `schema` allows, in the words of messages,
/// and an example.
fn kind_of(property: &Value, schema: &Value) -> Option<(&'static str, &'static str)> {
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

fn not_whole(item: &Cursor<'_>, spec: &SpecEntry, message: &str) -> ConfigError {
    item.error(ConfigErrorKind::Hook, message)
        .hint(format!("for example `{}`", (spec.example)()))
}

fn known_hooks() -> String {
    let specs = registered_specs(SpecPort::Hook);
    let tags: Vec<&str> = specs.iter().map(|spec| spec.tag).collect();
    format!("known are {}", tags.join(", "))
}
