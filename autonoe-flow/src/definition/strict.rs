//! Reads values more strictly than serde does of itself.
//!
//! Derived structs also read a list, with their fields in order, and derived
//! enums an object. Nobody means that in a file, and `[]` would be taken for an
//! object in which nothing is said.

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value, map};

/// A value that is read strictly: an object is an object, a name is a text.
pub(crate) struct Strict(pub(crate) Value);

impl Strict {
    /// Returns the error that there is something else than `expected`.
    fn wrong(&self, expected: &'static str) -> Error {
        let found = match &self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(truth) => Unexpected::Bool(*truth),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Unexpected::Signed(number),
                (None, Some(number)) => Unexpected::Float(number),
                (None, None) => Unexpected::Other("a number"),
            },
        };
        Error::invalid_type(found, &expected)
    }
}

impl<'de> Deserializer<'de> for Strict {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            Value::Object(fields) => visitor.visit_map(Fields {
                fields: fields.into_iter(),
                value: None,
            }),
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("an object")),
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
            Value::String(name) => visitor.visit_enum(Name(name)),
            _ => Err(self.wrong("a name")),
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

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_u64() {
            Some(number) if number > u64::from(u32::MAX) => {
                let most = u32::MAX;
                let message =
                    format!("expected a whole number from 0 to {most}, found the number {number}");
                Err(Error::custom(message))
            }
            _ => self.0.deserialize_u32(visitor),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_u64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_f64(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct identifier ignored_any
    }
}

struct Items(std::vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let next = self.0.next();
        next.map(|item| seed.deserialize(Strict(item))).transpose()
    }
}

struct Fields {
    fields: map::IntoIter,
    value: Option<Value>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        let key: StringDeserializer<Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Strict(self.value.take().unwrap_or_default()))
    }
}

struct Name(String);

impl<'de> EnumAccess<'de> for Name {
    type Error = Error;
    type Variant = Unit;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), Error> {
        let name: StringDeserializer<Error> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, Unit))
    }
}

/// A variant that is a name and nothing else; those with more have readers of their own.
struct Unit;

impl<'de> VariantAccess<'de> for Unit {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Err(Error::invalid_type(
            Unexpected::UnitVariant,
            &"a name with a value",
        ))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::invalid_type(
            Unexpected::UnitVariant,
            &"a name with values",
        ))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(Error::invalid_type(
            Unexpected::UnitVariant,
            &"a name with fields",
        ))
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::json_complaint;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::definition::{OnExhausted, RetryPolicy};

    fn told<T: for<'a> Deserialize<'a> + std::fmt::Debug>(value: Value) -> String {
        json_complaint(&T::deserialize(Strict(value)).expect_err("it is refused"))
    }

    #[test]
    fn a_list_is_no_object_and_an_object_is_no_name() {
        let taken_by_serde = serde_json::from_value::<RetryPolicy>(json!([]));

        assert!(taken_by_serde.is_ok(), "serde refuses it by itself now");
        assert_eq!(
            told::<RetryPolicy>(json!([])),
            "expected an object, found a list"
        );
        assert_eq!(
            told::<OnExhausted>(json!({"skip": null})),
            "expected a name, found an object"
        );
    }

    #[test]
    fn what_is_right_is_read() {
        let value = json!({"maxRetries": 1, "onExhausted": "skip", "fallbackStep": null});

        let policy = RetryPolicy::deserialize(Strict(value)).expect("it is right");

        assert_eq!(policy.on_exhausted, Some(OnExhausted::Skip));
        assert_eq!(policy.max_retries, 1);
    }
}
