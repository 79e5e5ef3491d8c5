//! Deserializers of single configuration fields and of plugin specs.

use autonoe_security::AllowCommands;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::NamedBackend;
use super::strict::{below, inside, kind};
use super::suggest::suggest;
use crate::gate::PermissionRule;
use crate::project::json_error_message;
use crate::spec::{SpecEntry, SpecPort, registered_specs};

/// The tools that accept a pattern in a permission rule.
const WITH_PATTERN: [&str; 7] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch"];

/// Reads a field that may be left out, but not be null.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads a list item by item.
fn items<'de, I: DeserializeOwned, T, D: Deserializer<'de>>(
    from: D,
    read: impl Fn(I) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let items = Vec::<I>::deserialize(from)?.into_iter().enumerate();
    let items = items.map(|(index, item)| {
        read(item).map_err(|error| D::Error::custom(inside(&format!("/{index}"), &error)))
    });
    items.collect()
}

/// Reads a value that is a single item, a list or an object. Errors of untagged enums would have no
/// position.
pub(super) fn one_of<'de, T, D: Deserializer<'de>>(
    from: D,
    expected: &str,
    read: impl Fn(&Value) -> Option<Result<T, String>>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    let wrong = || Err(format!("expected {expected}, found {}", kind(&value)));
    read(&value).unwrap_or_else(wrong).map_err(D::Error::custom)
}

/// Reads names for which `problem` returns `None`.
fn names<'de, D: Deserializer<'de>>(
    from: D,
    problem: fn(&str) -> Option<&'static str>,
) -> Result<Vec<String>, D::Error> {
    items(from, |name: String| match problem(&name) {
        Some(problem) => Err(format!("{name:?}: {problem}")),
        None => Ok(name),
    })
}

/// Reads names of commands.
pub(super) fn commands<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    names(from, command_problem)
}

/// Reads names of processes.
pub(super) fn processes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    names(from, name_problem)
}

/// Reads patterns for names of variables.
pub(super) fn variables<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    names(from, variable_problem)
}

/// Reads permission rules.
pub(super) fn rules<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PermissionRule>, D::Error> {
    items(from, |text: String| {
        text.parse::<PermissionRule>().map_err(|invalid| {
            let suggestion = text.split_once('(').and_then(|(name, pattern)| {
                let known_name =
                    suggest(name, WITH_PATTERN).filter(|known_name| *known_name != name)?;
                Some(format!("did you mean `{known_name}({pattern}`?"))
            });
            let hint = suggestion.unwrap_or_else(|| {
                "a rule is like Read(./docs/**), Bash(npm run *) or WebFetch(domain:docs.rs)"
                    .to_owned()
            });
            format!("{invalid}; {hint}")
        })
    })
}

/// Reads names of tools.
pub(super) fn tools<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PermissionRule>, D::Error> {
    items(from, |text: String| match text.parse::<PermissionRule>() {
        Ok(rule) if !text.contains('(') => Ok(rule),
        _ if text.contains('(') => Err(format!(
            "{text:?} is not the name of a tool; put permission rules into `permissions.allow`"
        )),
        _ => Err(format!(
            "{text:?} is not the name of a tool; a name is like Task, mcp__server__tool or \
             mcp__server__*"
        )),
    })
}

/// Reads specs of hooks.
pub(super) fn hooks<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    items(from, |spec: Value| read_spec(SpecPort::Hook, &spec))
}

/// Reads a backend: its spec, or a short name. The program interprets the text after a colon.
pub(super) fn backend<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<NamedBackend>, D::Error> {
    let backend = one_of(from, "a backend or its name", |value| match value {
        Value::String(name) => {
            let tag = name.split(':').next().unwrap_or_default();
            let mut known = registered_specs(SpecPort::Backend).into_iter();
            Some(if known.any(|spec| spec.tag == tag) {
                Ok(NamedBackend::Name(name.clone()))
            } else {
                Err(unknown_spec(SpecPort::Backend, tag))
            })
        }
        Value::Object(fields) if fields.contains_key("sandbox") => Some(Err(
            "/sandbox: a project's files cannot choose the sandbox of its agents; only the \
             operator who starts a run can, with --backend"
                .to_owned(),
        )),
        Value::Object(_) => Some(read_spec(SpecPort::Backend, value).map(NamedBackend::Spec)),
        _ => None,
    });
    backend.map(Some)
}

/// Returns the reason why `name` cannot be the name of a command or a process.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is blank; write a name or remove it")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it must be one word, without arguments")
    } else {
        None
    }
}

/// Returns the reason why `name` cannot be a command that the configuration adds.
pub(super) fn command_problem(name: &str) -> Option<&'static str> {
    let is_destructive = matches!(name.rsplit('/').next(), Some("rm" | "mv"));
    match name_problem(name) {
        None if is_destructive => {
            Some("it cannot be added; `--allow-destructive` allows rm and mv inside the project")
        }
        None if AllowCommands::refuses(name) => {
            Some("it cannot be added, because it changes what other commands mean")
        }
        problem => problem,
    }
}

/// Returns the reason why `name` is not a valid pattern for names of variables.
pub(super) fn variable_problem(name: &str) -> Option<&'static str> {
    if name.chars().all(|c| c == '*') {
        Some("it must name the variables that the work needs")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=') {
        Some("it must be the name of a variable, without a value")
    } else {
        None
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: spec/5.4/allow-commands
    #[test]
    fn commands_that_delete_or_change_others_cannot_be_added() {
        for name in ["rm", "mv", "/bin/rm", "eval", "source", ".", "alias", ""] {
            assert!(command_problem(name).is_some(), "{name}");
        }
        for name in ["docker", "just", "./rm.sh", "rmdir"] {
            assert_eq!(command_problem(name), None, "{name}");
        }
    }
}
