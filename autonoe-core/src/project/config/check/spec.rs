//! What must be true of a spec: what it registered says.

use serde_json::{Map, Value};

use super::Checked;
use crate::port::{BackendSpec, HookSpec, SpecEntry, SpecPort, registered_specs};
use crate::project::config::cursor::Cursor;
use crate::project::config::expected::Expected;
use crate::project::config::suggest::suggest;
use crate::project::config::{ConfigError, ConfigErrorKind};
use crate::project::json_words::placeless_complaint;

/// A kind of spec, in the words of messages.
struct SpecKind {
    port: SpecPort,
    /// What one of them is called.
    name: &'static str,
    error: ConfigErrorKind,
    expected: Expected<'static>,
    tag: Expected<'static>,
    reads: fn(&str) -> Result<(), serde_json::Error>,
}

const HOOK: SpecKind = SpecKind {
    port: SpecPort::Hook,
    name: "hook",
    error: ConfigErrorKind::Hook,
    expected: Expected::new(
        "a hook",
        r#"{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}"#,
    ),
    tag: Expected::new("the type of a hook", r#""core-deny-tool""#),
    reads: |text| serde_json::from_str::<Box<dyn HookSpec>>(text).map(drop),
};

const BACKEND: SpecKind = SpecKind {
    port: SpecPort::Backend,
    name: "backend",
    error: ConfigErrorKind::Backend,
    expected: Expected::new("a backend or its name", r#"{"type": "codex"}"#),
    tag: Expected::new("the type of a backend", r#""codex""#),
    reads: |text| serde_json::from_str::<Box<dyn BackendSpec>>(text).map(drop),
};

pub(super) fn hook(item: &Cursor<'_>) -> Checked {
    HOOK.check(item)
}

/// Checks a backend: its spec, or a name. Behind a colon in a name may stand what only the
/// program that reads it knows.
pub(super) fn backend(field: &Cursor<'_>) -> Checked {
    if field.is_object() {
        return spec_of_backend(field);
    }
    let name = field.string(BACKEND.expected)?;
    let tag = name.split(':').next().unwrap_or_default();
    match registered_specs(SpecPort::Backend)
        .iter()
        .any(|it| it.tag == tag)
    {
        true => Ok(()),
        false => Err(BACKEND.unknown(field, tag)),
    }
}

fn spec_of_backend(field: &Cursor<'_>) -> Checked {
    let fields = field.fields(BACKEND.expected)?;
    if let Some((_, sandbox)) = fields.iter().find(|(name, _)| *name == "sandbox") {
        let message = "a file of the project does not say what its agents are kept in".to_owned();
        let hint = "only the person who starts a run can, with --backend".to_owned();
        let error = sandbox.key_error(ConfigErrorKind::Backend, message);
        return Err(error.hint(hint));
    }
    BACKEND.check(field)
}

impl SpecKind {
    fn check(&self, item: &Cursor<'_>) -> Checked {
        let fields = item.fields(self.expected)?;
        let Some((_, tag)) = fields.iter().find(|(name, _)| *name == "type") else {
            let message = format!("the {} has no `type`", self.name);
            return Err(item.error(self.error, message).hint(self.known()));
        };
        let name = tag.string(self.tag)?;
        let specs = registered_specs(self.port);
        let Some(spec) = specs.iter().find(|spec| spec.tag == name) else {
            return match (self.reads)(item.text()) {
                Ok(()) => Ok(()),
                Err(_) => Err(self.unknown(tag, name)),
            };
        };
        self.fits_schema(item, spec)?;
        (self.reads)(item.text())
            .map_err(|error| self.not_whole(item, spec, &placeless_complaint(&error)))
    }

    /// Checks fields and their types, because serde does not say at which field it stopped.
    fn fits_schema(&self, item: &Cursor<'_>, spec: &SpecEntry) -> Checked {
        let schema = (spec.schema)().to_value();
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let fields = if schema["additionalProperties"] == Value::Bool(false) {
            let known = properties.keys().map(String::as_str).chain(["type"]);
            item.known_fields(self.expected, &known.collect::<Vec<_>>())?
        } else {
            // A spec that takes any field has no such word in its schema.
            item.fields(self.expected)?
        };
        let needed = schema["required"].as_array().into_iter().flatten();
        for name in needed.filter_map(Value::as_str) {
            if !fields.iter().any(|(field, _)| *field == name) {
                let message = format!("the {} has no `{name}`", self.name);
                return Err(self.not_whole(item, spec, &message));
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

    fn not_whole(&self, item: &Cursor<'_>, spec: &SpecEntry, message: &str) -> ConfigError {
        item.error(self.error, message)
            .hint(format!("for example `{}`", (spec.example)()))
    }

    fn unknown(&self, place: &Cursor<'_>, name: &str) -> ConfigError {
        let specs = registered_specs(self.port);
        let hint = match suggest(name, specs.iter().map(|spec| spec.tag)) {
            Some(meant) => format!("did you mean `{meant}`? ({})", self.known()),
            None => self.known(),
        };
        let message = format!("this program knows no {} of the type `{name}`", self.name);
        place.error(self.error, message).hint(hint)
    }

    fn known(&self) -> String {
        let specs = registered_specs(self.port);
        let tags: Vec<&str> = specs.iter().map(|spec| spec.tag).collect();
        format!("known are {}", tags.join(", "))
    }
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
