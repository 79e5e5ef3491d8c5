//! Names that definitions give to things.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A name that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {what}; use {rule}")]
pub struct InvalidName {
    found: String,
    what: &'static str,
    rule: &'static str,
}

/// The longest name, in characters.
const LONGEST: usize = 64;

/// Defines a name with its first characters and the others.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $pattern:literal, $first:expr, $others:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                let is_first: fn(char) -> bool = $first;
                let is_other: fn(char) -> bool = $others;
                let is_fine = text.starts_with(is_first)
                    && text.chars().all(is_other)
                    && text.len() <= LONGEST;
                match is_fine {
                    true => Ok(Self(text.to_owned())),
                    false => Err(InvalidName { found: text.to_owned(), what: $what, rule: $rule }),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": $pattern, "maxLength": LONGEST})
            }
        }
    };
}

name!(
    /// Names a flow, for example `review`: the name of its folder.
    ///
    /// ```
    /// use autonoe_flow::FlowName;
    ///
    /// let name: FlowName = "review-2".parse()?;
    ///
    /// assert!("../elsewhere".parse::<FlowName>().is_err());
    /// # Ok::<(), autonoe_flow::InvalidName>(())
    /// ```
    FlowName,
    "the name of a flow",
    "at most 64 of the small letters a-z, digits, - and _, with a letter or digit first",
    "^[a-z0-9][a-z0-9_-]*$",
    |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    |c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)
);

name!(
    /// Names a step, for example `draft` or `initial.issue`.
    ///
    /// `end` is no step: a [`Target`](crate::Target) of that name is the end of the flow.
    ///
    /// ```
    /// use autonoe_flow::StepId;
    ///
    /// let id: StepId = "initial.issue".parse()?;
    ///
    /// assert!("first step".parse::<StepId>().is_err());
    /// # Ok::<(), autonoe_flow::InvalidName>(())
    /// ```
    StepId,
    "the id of a step",
    "at most 64 of the letters A-Z and a-z, digits, ., - and _, with a letter or digit first",
    "^[A-Za-z0-9][A-Za-z0-9._-]*$",
    |c| c.is_ascii_alphanumeric(),
    |c| c.is_ascii_alphanumeric() || ".-_".contains(c)
);

name!(
    /// Names a parameter, a variable or an output of a step; a prompt writes it `{uv-name}`.
    ///
    /// ```
    /// use autonoe_flow::VariableName;
    ///
    /// let name: VariableName = "target_lang".parse()?;
    ///
    /// assert!("uv name".parse::<VariableName>().is_err());
    /// # Ok::<(), autonoe_flow::InvalidName>(())
    /// ```
    VariableName,
    "the name of a variable",
    "at most 64 of the letters A-Z and a-z, digits, - and _, with a letter first",
    "^[A-Za-z][A-Za-z0-9_-]*$",
    |c| c.is_ascii_alphabetic(),
    |c| c.is_ascii_alphanumeric() || "-_".contains(c)
);
