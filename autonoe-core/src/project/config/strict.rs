//! Strict deserializer, which rejects serde's alternative forms of structs and enums, and reads of parts of a file.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value, map};
use serde_path_to_error::Segment;

use crate::project::json_error_message;

/// Deserializes a JSON value strictly: an object is an object, and a name is a string.
#[derive(Clone, Copy)]
pub(super) struct Strict<'de>(pub(super) &'de Value);

/// Returns the error that `found` is not `expected`.
fn wrong(found: &Value, expected: &'static str) -> Error {
    let found = match found {
        Value::Null => Unexpected::Unit,
        Value::Bool(truth) => Unexpected::Bool(*truth),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
        Value::Number(_) => Unexpected::Other("number"),
    };
    Error::invalid_type(found, &expected)
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Object(fields) => visitor.visit_map(Fields {
                fields: fields.iter(),
                value: &Value::Null,
            }),
            scalar => scalar.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            other => Err(wrong(other, "an object")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name, value: None }),
            Value::Object(fields) if fields.len() == 1 => {
                let mut variants = fields.iter().map(|(name, value)| Variant {
                    name,
                    value: Some(value),
                });
                match variants.next() {
                    Some(variant) => visitor.visit_enum(variant),
                    None => Err(wrong(self.0, "a name")),
                }
            }
            other => Err(wrong(other, "a name")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

struct Items<'de>(std::slice::Iter<'de, Value>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let next = self.0.next();
        next.map(|item| seed.deserialize(Strict(item))).transpose()
    }
}

struct Fields<'de> {
    fields: map::Iter<'de>,
    value: &'de Value,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = value;
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Strict(self.value))
    }
}

/// A variant of an enum: a name, or an object with the name as its only key.
struct Variant<'de> {
    name: &'de str,
    value: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: BorrowedStrDeserializer<'_, Error> = BorrowedStrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self) -> Result<Strict<'de>, Error> {
        let missing = || {
            let found = Unexpected::Str(self.name);
            Error::invalid_type(found, &"an object with one field")
        };
        self.value.map(Strict).ok_or_else(missing)
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.value {
            None => Ok(()),
            Some(_) => Err(Error::invalid_type(Unexpected::Map, &"a name")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content()?.deserialize_map(visitor)
    }
}

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

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Policy {
        #[serde(default)]
        max_retries: u32,
        #[serde(default)]
        end: Option<End>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    enum End {
        Skip,
        Jump(String),
        Wait { seconds: u32 },
    }

    fn error<T: for<'a> Deserialize<'a> + std::fmt::Debug>(value: &Value) -> String {
        let error = T::deserialize(Strict(value)).expect_err("it is refused");
        error.to_string()
    }

    #[test]
    fn a_list_is_no_object_and_an_object_is_no_name() {
        let accepted_by_serde = serde_json::from_value::<Policy>(json!([]));

        assert!(accepted_by_serde.is_ok(), "serde refuses it by itself now");
        assert_eq!(
            error::<Policy>(&json!([])),
            "invalid type: sequence, expected an object"
        );
        for (value, expected) in [
            (json!({"skip": null}), "invalid type: map, expected a name"),
            (json!({}), "invalid type: map, expected a name"),
            (json!(7), "invalid type: number, expected a name"),
            (
                json!("jump"),
                "invalid type: string \"jump\", expected an object with one field",
            ),
        ] {
            assert_eq!(error::<End>(&value), expected, "{value}");
        }
    }

    #[test]
    fn valid_values_are_read() {
        for (value, end) in [
            (json!(null), None),
            (json!("skip"), Some(End::Skip)),
            (json!({"jump": "a"}), Some(End::Jump("a".to_owned()))),
            (
                json!({"wait": {"seconds": 2}}),
                Some(End::Wait { seconds: 2 }),
            ),
        ] {
            let value = json!({"maxRetries": 1, "end": value});

            let policy = Policy::deserialize(Strict(&value)).expect("valid");

            assert_eq!(
                policy,
                Policy {
                    max_retries: 1,
                    end
                }
            );
        }
    }
}
