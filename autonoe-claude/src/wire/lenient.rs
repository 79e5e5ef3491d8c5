//! Lenient deserialization of fields that may be missing, null, or of another type than expected.
//!
//! The types of fields are known from recordings, not from a specification. A field of another type
//! is therefore treated as missing, and the rest of the message is still parsed.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value that is parsed from one type of JSON and is absent for all others.
pub(super) trait LenientValue<'de>: Sized {
    fn from_text(_: Cow<'de, str>) -> Option<Self> {
        None
    }

    fn from_bool(_: bool) -> Option<Self> {
        None
    }

    fn from_number(_: f64) -> Option<Self> {
        None
    }

    fn from_count(count: u64) -> Option<Self> {
        // Counts beyond 2^53 do not occur.
        #[expect(clippy::cast_precision_loss, reason = "such counts do not occur")]
        Self::from_number(count as f64)
    }

    fn from_list<A: SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        drain_list(list).map(|()| None)
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        drain_object(object).map(|()| None)
    }
}

fn drain_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Parses a field as a `T` if it has the right type.
pub(super) fn field<'de, T: LenientValue<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(Any(PhantomData))
}

/// Parses a field as a list of the elements that have the type of a `T`.
pub(super) fn list<'de, T: LenientValue<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    field::<Many<T>, D>(deserializer).map(|many| many.map_or_else(Vec::new, |many| many.0))
}

struct Any<T>(PhantomData<T>);

impl<'de, T: LenientValue<'de>> Visitor<'de> for Any<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(T::from_text(Cow::Owned(text)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(T::from_bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(T::from_count(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "such numbers do not occur")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(T::from_number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(T::from_number(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::from_object(object)
    }
}

impl<'de> LenientValue<'de> for Cow<'de, str> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

impl LenientValue<'_> for bool {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl LenientValue<'_> for f64 {
    fn from_number(value: f64) -> Option<Self> {
        Some(value)
    }
}

impl LenientValue<'_> for u64 {
    fn from_count(count: u64) -> Option<Self> {
        Some(count)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction is dropped on purpose, and the cast stops at the ends"
    )]
    fn from_number(value: f64) -> Option<Self> {
        (value >= 0.0).then_some(value as Self)
    }
}

/// A list of the elements that have the type of a `T`.
struct Many<T>(Vec<T>);

impl<'de, T: LenientValue<'de>> LenientValue<'de> for Many<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut many = Vec::new();
        while let Some(Element(element)) = list.next_element()? {
            many.extend(element);
        }
        Ok(Some(Self(many)))
    }
}

/// An element of a list that may have any type.
pub(super) struct Element<T>(pub(super) Option<T>);

impl<'de, T: LenientValue<'de>> Deserialize<'de> for Element<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        field(deserializer).map(Self)
    }
}

/// Parses an object by its derived `Deserialize`.
pub(super) fn object<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    object: A,
) -> Result<Option<T>, A::Error> {
    T::deserialize(MapAccessDeserializer::new(object)).map(Some)
}

/// Implements [`LenientValue`] for objects by their derived `Deserialize`.
macro_rules! lenient_object {
    ($($object:ty),+) => {$(
        impl<'de> $crate::wire::lenient::LenientValue<'de> for $object {
            fn from_object<A: serde::de::MapAccess<'de>>(
                object: A,
            ) -> Result<Option<Self>, A::Error> {
                $crate::wire::lenient::object(object)
            }
        }
    )+};
}
pub(super) use lenient_object;

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow, deserialize_with = "field")]
        text: Option<Cow<'a, str>>,
        #[serde(deserialize_with = "field")]
        count: Option<u64>,
        #[serde(deserialize_with = "field")]
        number: Option<f64>,
        #[serde(deserialize_with = "field")]
        yes: Option<bool>,
        #[serde(borrow, deserialize_with = "list")]
        list: Vec<Cow<'a, str>>,
    }

    fn read(text: &str) -> Sample<'_> {
        serde_json::from_str(text).expect(text)
    }

    #[test]
    fn fields_of_their_shape_are_read_without_a_copy() {
        let sample = read(r#"{"text":"a","count":7,"number":1.5,"yes":true,"list":["x","y"]}"#);

        assert!(matches!(sample.text, Some(Cow::Borrowed("a"))));
        assert_eq!((sample.count, sample.number), (Some(7), Some(1.5)));
        assert_eq!(
            (sample.yes, sample.list.as_slice()),
            (Some(true), &["x".into(), "y".into()][..])
        );
    }

    #[test]
    fn fields_of_another_shape_are_absent() {
        for other in ["null", "{}", "[]", r#"{"a":[1]}"#, "[[{}]]"] {
            let text = format!(
                r#"{{"text":{other},"count":{other},"number":{other},"yes":{other},"list":{other},"more":{other}}}"#
            );
            assert_eq!(read(&text), Sample::default(), "{other}");
        }
        assert_eq!(
            read(r#"{"text":1,"count":"1","yes":"true","list":"x"}"#),
            Sample::default()
        );
        assert_eq!(read("{}"), Sample::default());
    }

    #[test]
    fn numbers_may_be_fractions_and_counts_are_never_negative() {
        assert_eq!(read(r#"{"count":622.68,"number":3}"#).count, Some(622));
        assert_eq!(read(r#"{"count":622.68,"number":3}"#).number, Some(3.0));
        assert_eq!(read(r#"{"count":-1}"#).count, None);
        assert_eq!(read(r#"{"count":1e300}"#).count, Some(u64::MAX));
    }

    #[test]
    fn a_list_keeps_elements_of_the_right_type() {
        assert_eq!(
            read(r#"{"list":["x",1,null,{"y":2},"z"]}"#).list,
            ["x", "z"]
        );
    }
}
