//! Deserializers of fields and enums that keep the location of an error.

use serde::Deserialize;
use serde_json::Value;

/// Reads a field that may be `null`, which differs from a missing field.
pub(crate) fn written_value<'de, D>(from: D) -> Result<Option<Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Value::deserialize(from).map(Some)
}

/// Implements `Deserialize` for an enum whose field `type` names the variant. Each variant holds
/// one struct.
macro_rules! read_by_type {
    ($enum:ident, $default:expr, { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use autonoe_core::project::config_parts::{read_part, take_tag};
                use serde::de::Error;
                let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(from)?;
                let name = take_tag(&mut fields, "type", $default).map_err(D::Error::custom)?;
                let rest = serde_json::Value::Object(fields);
                match name.as_str() {
                    $($name => read_part(&rest).map(Self::$variant),)+
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
