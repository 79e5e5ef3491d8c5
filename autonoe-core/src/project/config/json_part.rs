//! Reads parts of a file whose type depends on a value in it, and keeps the position of errors.
//!
//! Serde's tagged enums copy their input, and an error in the copy has no position. Instead, the
//! text of such an error begins with the pointer inside the part, `/config/mode: unknown name ..`,
//! and [`ConfigFile::read`](super::ConfigFile::read) extracts it.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use super::strict::Strict;
use crate::project::json_error_message;

/// Reads `value` as a `T`. The error begins with the pointer to the wrong value.
pub fn read_part<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let mut pointer = String::new();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => pointer = below(&pointer, &index.to_string()),
                Segment::Map { key } => pointer = below(&pointer, key),
                // A variant is a key only if it has a value.
                Segment::Enum { variant } => {
                    let inner = below(&pointer, variant);
                    if value.pointer(&inner).is_some() {
                        pointer = inner;
                    }
                }
                Segment::Unknown => {}
            }
        }
        inside(&pointer, &json_error_message(error.inner()))
    })
}

/// Prepends `pointer` to the pointer and the message of an error.
pub fn inside(pointer: &str, error: &str) -> String {
    let (inner, message) = split_pointer(error);
    match format!("{pointer}{inner}") {
        whole if whole.is_empty() => message.to_owned(),
        whole => format!("{whole}: {message}"),
    }
}

/// Splits an error into its pointer, which is empty if there is none, and its message.
pub(super) fn split_pointer(error: &str) -> (&str, &str) {
    match error.split_once(": ") {
        Some((pointer, message)) if pointer.starts_with('/') => (pointer, message),
        _ => ("", error),
    }
}

/// Returns the pointer to the field or item `name` of the value at `pointer`.
pub fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Removes the field `tag` and returns its text, or `default` if there is no such field.
pub fn take_tag(
    fields: &mut Map<String, Value>,
    tag: &str,
    default: Option<&str>,
) -> Result<String, String> {
    match (fields.remove(tag), default) {
        (Some(Value::String(name)), _) => Ok(name),
        (Some(other), _) => {
            let message = format!("expected a string, found {}", kind(&other));
            Err(inside(&below("", tag), &message))
        }
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(format!("the field `{tag}` is missing")),
    }
}

/// Returns the kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
