//! JSON Schemas of tools: what of them is understood, and whether arguments fit.
//!
//! The whole of JSON Schema takes two megabytes of code, most of it for what no tool says. Here
//! is what tools say. A schema with more in it is refused as a whole, so that nothing is taken
//! for checked that was not; property tests compare with the crate `jsonschema`.

mod check;
mod keywords;
mod numbers;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::Value;

/// A schema that is understood.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    root: Value,
    /// The patterns in it, by their texts.
    patterns: HashMap<String, Regex>,
}

impl Schema {
    /// Takes a schema.
    ///
    /// # Errors
    ///
    /// Something in it is broken, or is not understood.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let mut understood = Self {
            root: schema.clone(),
            patterns: HashMap::new(),
        };
        keywords::understand(schema, schema, &mut understood.patterns)?;
        Ok(understood)
    }

    /// Says what is wrong with `value`, with the place of it; nothing if it fits.
    pub(super) fn complaints(&self, value: &Value) -> Vec<String> {
        let mut complaints = check::Complaints::default();
        check::Check::new(self).value(&self.root, value, &mut complaints);
        complaints.into_texts()
    }
}
