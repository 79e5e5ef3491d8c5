//! Validated names in definitions: [`FlowName`], [`StepId`] and [`VariableName`].

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A name that violates its rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {noun}; use {rule}")]
pub struct InvalidName {
    found: String,
    noun: &'static str,
    rule: &'static str,
}

/// Maximum length of a name, in bytes. All allowed characters are ASCII.
const LONGEST: usize = 64;

/// Defines a name type by the rules for its first and its other characters.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $rule:literal, $pattern:literal, $first:expr, $others:expr) => {
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
                if is_fine {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidName { found: text.to_owned(), noun: $noun, rule: $rule })
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

/// Formats names as a list: "`a`, `b`".
pub(crate) fn quoted(names: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

name!(
    /// Name of a flow, for example `review`. Its folder has the same name.
    ///
    /// ```
    /// use autonoe_flow::FlowName;
    ///
    /// let name: FlowName = "review-2".parse()?;
    ///
    /// assert!("../elsewhere".parse::<FlowName>().is_err());
    /// # Ok::<(), autonoe_flow::definition::InvalidName>(())
    /// ```
    FlowName,
    "the name of a flow",
    "at most 64 lower-case letters a-z, digits, - and _, starting with a letter or digit",
    "^[a-z0-9][a-z0-9_-]*$",
    |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    |c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)
);

name!(
    /// ID of a step, for example `draft` or `initial.issue`.
    ///
    /// `end` is not a step: a [`Target`](crate::definition::Target) of that name is the end of the
    /// flow.
    ///
    /// ```
    /// use autonoe_flow::StepId;
    ///
    /// let id: StepId = "initial.issue".parse()?;
    ///
    /// assert!("first step".parse::<StepId>().is_err());
    /// # Ok::<(), autonoe_flow::definition::InvalidName>(())
    /// ```
    StepId,
    "the id of a step",
    "at most 64 letters A-Z and a-z, digits, ., - and _, starting with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._-]*$",
    |c| c.is_ascii_alphanumeric(),
    |c| c.is_ascii_alphanumeric() || ".-_".contains(c)
);

name!(
    /// Name of a parameter, a variable or an output of a step. Prompts write it as `{uv-name}`.
    ///
    /// ```
    /// use autonoe_flow::definition::VariableName;
    ///
    /// let name: VariableName = "target_lang".parse()?;
    ///
    /// assert!("uv name".parse::<VariableName>().is_err());
    /// # Ok::<(), autonoe_flow::definition::InvalidName>(())
    /// ```
    VariableName,
    "the name of a variable",
    "at most 64 letters A-Z and a-z, digits, - and _, starting with a letter",
    "^[A-Za-z][A-Za-z0-9_-]*$",
    |c| c.is_ascii_alphabetic(),
    |c| c.is_ascii_alphanumeric() || "-_".contains(c)
);
