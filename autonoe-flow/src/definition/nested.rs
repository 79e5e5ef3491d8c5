//! Reads parts of a file whose shape depends on a name in it, and keeps where a mistake stands.
//!
//! Serde's own tagged enums copy what they read, and an error in the copy has
//! lost its place. Here the pointer inside the part travels in the text of the
//! error, `/config/mode: unknown name ..`, and the reader of the whole file
//! takes it out again with [`split_pointer`].

use autonoe_core::json_complaint;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use super::strict::Strict;

/// Reads `value` as a `T`; the error begins with the pointer to what is wrong.
pub(crate) fn read_part<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let pointer = pointer_to(error.path());
        let complaint = json_complaint(error.inner());
        let (inner, message) = split_pointer(&complaint);
        with_pointer(&format!("{pointer}{inner}"), message)
    })
}

/// Keeps a `null` that somebody wrote.
pub(crate) fn written_value<'de, D>(from: D) -> Result<Option<Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Value::deserialize(from).map(Some)
}

/// Puts `pointer` before `message`.
pub(crate) fn with_pointer(pointer: &str, message: &str) -> String {
    match pointer {
        "" => message.to_owned(),
        pointer => format!("{pointer}: {message}"),
    }
}

/// Splits what [`with_pointer`] put together; the pointer is empty if there is none.
pub(crate) fn split_pointer(text: &str) -> (&str, &str) {
    match text.split_once(": ") {
        Some((pointer, message)) if pointer.starts_with('/') => (pointer, message),
        _ => ("", text),
    }
}

/// Returns the JSON pointer that says the same as `path`.
pub(crate) fn pointer_to(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer = below(&pointer, &index.to_string()),
            Segment::Map { key } => pointer = below(&pointer, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

/// Returns the pointer to the field or item `name` of the value at `pointer`.
pub(crate) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Takes the name out of the field `tag`, or returns `default` if there is none.
pub(crate) fn take_tag(
    fields: &mut Map<String, Value>,
    tag: &str,
    default: Option<&str>,
) -> Result<String, String> {
    match (fields.remove(tag), default) {
        (Some(Value::String(name)), _) => Ok(name),
        (Some(_), _) => Err(with_pointer(&below("", tag), "expected a string")),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(format!("the field `{tag}` is missing")),
    }
}

/// Reads an enum whose field `type` names the variant, each of which holds one struct.
macro_rules! read_by_type {
    ($enum:ident, $default:expr, { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(from)?;
                let name = $crate::definition::nested::take_tag(&mut fields, "type", $default)
                    .map_err(D::Error::custom)?;
                let rest = serde_json::Value::Object(fields);
                match name.as_str() {
                    $($name => $crate::definition::nested::read_part(rest).map(Self::$variant),)+
                    _ => {
                        let known = [$(concat!("`", $name, "`")),+].join(", ");
                        Err(format!("/type: unknown name `{name}`; known are {known}"))
                    }
                }
                .map_err(D::Error::custom)
            }
        }
    };
}
pub(crate) use read_by_type;
