//! JSON Schemas of tools: what of them is understood, whether arguments fit, and what is meant by
//! those that nearly do.
//!
//! The whole of JSON Schema takes two megabytes of code, most of it for what no tool says. Here
//! is what tools say. A schema with more in it is refused as a whole, so that nothing is taken
//! for checked that was not; property tests compare with the crate `jsonschema`.

mod check;
mod coerce;
mod keywords;
mod numbers;
#[cfg(test)]
mod tests;
mod types;

use std::collections::HashMap;
use std::fmt;

use regex_lite::Regex;
use serde_json::Value;

/// The JSON Schema of a tool's input, ready to check arguments.
///
/// Models send numbers and booleans as texts now and then. [`coerce`](Self::coerce) takes them
/// for what they are.
///
/// ```
/// use autonoe_core::InputSchema;
/// use serde_json::json;
///
/// let schema = InputSchema::new(&json!({
///     "type": "object",
///     "properties": {"limit": {"type": "integer"}, "name": {"type": "string"}},
/// }))?;
///
/// let input = schema.coerce(json!({"limit": "5", "name": "5"}));
///
/// assert_eq!(input, json!({"limit": 5, "name": "5"}));
/// assert!(schema.complaints(&input).is_empty());
/// assert_eq!(
///     schema.complaints(&json!({"limit": "five"})),
///     [r#"/limit: "five" is not of type "integer""#],
/// );
/// # Ok::<(), autonoe_core::InvalidSchema>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputSchema {
    root: Value,
    /// The patterns in it, by their texts.
    patterns: HashMap<String, Regex>,
}

impl InputSchema {
    /// Takes a schema.
    ///
    /// # Errors
    ///
    /// Something in it is broken, or is not understood.
    pub fn new(schema: &Value) -> Result<Self, InvalidSchema> {
        let mut understood = Self {
            root: schema.clone(),
            patterns: HashMap::new(),
        };
        keywords::understand(schema, schema, &mut understood.patterns)
            .map_err(|what| InvalidSchema { what })?;
        Ok(understood)
    }

    /// Says what is wrong with `value`, with the place of it; nothing if it fits.
    pub fn complaints(&self, value: &Value) -> Vec<String> {
        let mut complaints = check::Complaints::default();
        check::Check::new(self).value(&self.root, value, &mut complaints);
        complaints.into_texts()
    }

    /// Returns `value` as it is meant, where the schema leaves no doubt about that.
    ///
    /// - A text is taken for a number or a boolean where the schema asks for one and allows no
    ///   text. It must be written as JSON writes it: `"5"`, `"-0.5"`, `"true"`; not `" 5"`, `"05"`,
    ///   `"five"`, `"True"`, nor a whole number that is too large to be exact.
    /// - `3.0` becomes `3` where only whole numbers may stand.
    /// - `null` is taken for a field that was left out, if it need not be there and null may not.
    ///
    /// Of several shapes that the schema offers, the one that then fits decides; if there are two
    /// that differ, nothing is changed. Whether the value fits is left to
    /// [`complaints`](Self::complaints).
    pub fn coerce(&self, value: Value) -> Value {
        coerce::Coercion::new(self).value(&self.root, value)
    }
}

/// A schema that is broken, or has something in it that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchema {
    what: String,
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema cannot be used: {}", self.what)
    }
}

impl std::error::Error for InvalidSchema {}
