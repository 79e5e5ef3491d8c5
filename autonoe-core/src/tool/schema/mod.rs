//! JSON Schema subset for tool inputs: validation of schemas, validation of arguments, and coercion
//! of nearly valid arguments.
//!
//! A complete JSON Schema implementation takes two megabytes of code, mostly for features that no
//! tool uses. This module implements the features that tools use. It rejects a schema with any
//! other feature as a whole, so that no constraint is silently ignored. Property tests compare it
//! with the crate `jsonschema`.

mod check;
mod coerce;
mod keywords;
#[cfg(test)]
mod tests;
mod types;

use std::collections::HashMap;
use std::fmt;

use regex_lite::Regex;
use serde_json::Value;

/// JSON Schema of a tool's input, ready to validate arguments.
///
/// Models occasionally send numbers and booleans as strings. [`coerce`](Self::coerce) converts
/// them.
///
/// ```
/// use autonoe_core::tool::InputSchema;
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
/// assert!(schema.violations(&input).is_empty());
/// assert_eq!(
///     schema.violations(&json!({"limit": "five"})),
///     [r#"/limit: "five" is not of type "integer""#],
/// );
/// # Ok::<(), autonoe_core::tool::InvalidSchema>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputSchema {
    root: Value,
    /// Compiled patterns of the schema, by their source text.
    patterns: HashMap<String, Regex>,
}

impl InputSchema {
    /// Validates and compiles a schema.
    ///
    /// # Errors
    ///
    /// The schema is malformed or uses an unsupported keyword.
    pub fn new(schema: &Value) -> Result<Self, InvalidSchema> {
        let mut compiled = Self {
            root: schema.clone(),
            patterns: HashMap::new(),
        };
        keywords::validate_schema(schema, schema, &mut compiled.patterns)
            .map_err(|reason| InvalidSchema { reason })?;
        Ok(compiled)
    }

    /// Returns the violations of `value`, each with its path; empty if the value is valid.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        let mut complaints = check::Violations::default();
        check::Check::new(self).value(&self.root, value, &mut complaints);
        complaints.into_texts()
    }

    /// Coerces `value` to the schema where the intended value is unambiguous.
    ///
    /// - A string becomes a number or a boolean where the schema expects one and allows no string.
    ///   It must use JSON notation: `"5"`, `"-0.5"`, `"true"`; not `" 5"`, `"05"`, `"five"`,
    ///   `"True"`, nor an integer that is too large to be exact.
    /// - `3.0` becomes `3` where only integers are allowed.
    /// - `null` counts as an omitted field where the field is optional and not nullable.
    ///
    /// If the schema has several alternatives, the one that fits after coercion decides. If two
    /// alternatives fit with different results, the value stays unchanged. The result is not
    /// validated; use [`violations`](Self::violations) for that.
    pub fn coerce(&self, value: Value) -> Value {
        coerce::Coercion::new(self).value(&self.root, value)
    }
}

/// Error: the schema is malformed or uses an unsupported keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchema {
    reason: String,
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema cannot be used: {}", self.reason)
    }
}

impl std::error::Error for InvalidSchema {}
