//! Example values for the hints of configuration errors.

use serde_json::Value;

use super::fields::FIELDS;
use super::{ConfigError, ConfigErrorKind, ConfigFile};

/// The example of the root object.
const ROOT_EXAMPLE: (&str, &str) = ("", r#"{"profile": "node"}"#);

/// Adds the kind and the example that only the reader of `agent.json` knows to an error.
pub(super) fn with_example(error: ConfigError, file: &ConfigFile) -> ConfigError {
    let pointer = error.pointer().unwrap_or_default().to_owned();
    let kind = match pointer.split('/').nth(1) {
        Some("hooks") => ConfigErrorKind::Hook,
        Some("backend") => ConfigErrorKind::Backend,
        _ => ConfigErrorKind::InvalidValue,
    };
    match error.kind() {
        ConfigErrorKind::UnknownField if pointer == "/permissions/deny" => {
            let hint = "rules only allow; to block, add a hook of the type `core-deny-tool`";
            error.hint(hint.to_owned())
        }
        ConfigErrorKind::WrongType if error.suggestion().is_none() => {
            let hint = hint(&pointer, error.message(), file.value(&pointer));
            error.hint(hint)
        }
        ConfigErrorKind::InvalidValue => error.with_kind(kind),
        _ => error,
    }
}

/// Returns a hint for the value at `pointer`, which does not match what `message` expects.
fn hint(pointer: &str, message: &str, found: Option<&Value>) -> String {
    let expected = message.strip_prefix("expected ").unwrap_or_default();
    let (start, any) = match expected {
        _ if expected.starts_with("a list") => ("[", r#"["text"]"#),
        _ if expected.starts_with("an object") => ("{", r#"{"name": "value"}"#),
        _ if expected.starts_with("a string") => ("\"", r#""text""#),
        _ => ("", r#""name""#),
    };
    let of_fields = FIELDS.iter().flat_map(|field| field.examples);
    let mut examples = [&ROOT_EXAMPLE]
        .into_iter()
        .chain(of_fields)
        .filter(|(pattern, _)| is_at(pointer, pattern));
    match (
        examples.find(|(_, example)| example.starts_with(start)),
        found,
    ) {
        (Some((_, example)), _) => format!("for example `{example}`"),
        (None, Some(Value::Number(_) | Value::Bool(_))) if start == "\"" => {
            "write it in quotes".to_owned()
        }
        (None, Some(Value::Array(_))) if start == "\"" => {
            "write the text itself, without a list".to_owned()
        }
        (None, _) => format!("for example `{any}`"),
    }
}

/// Returns whether `pointer` matches `pattern`.
fn is_at(pointer: &str, pattern: &str) -> bool {
    let pairs = pointer.split('/').zip(pattern.split('/'));
    pointer.matches('/').count() == pattern.matches('/').count()
        && pairs
            .into_iter()
            .all(|(name, known)| known == "*" || name == known)
}
