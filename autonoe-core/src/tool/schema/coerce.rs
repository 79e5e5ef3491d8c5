//! Coerces stringly typed numbers, booleans and nulls from models to the types of a schema.

use serde_json::{Map, Number, Value};

use super::InputSchema;
use super::check::{Check, MAX_STEPS};
use super::keywords::target;
use super::types::Types;

/// Maximum depth of nested schemas and references; deeper values stay unchanged.
const DEEPEST: usize = 100;

/// A coercion in progress.
pub(super) struct Coercion<'s> {
    schema: &'s InputSchema,
    depth: usize,
    /// Number of schemas visited so far.
    steps: usize,
}

impl<'s> Coercion<'s> {
    pub(super) fn new(schema: &'s InputSchema) -> Self {
        Self {
            schema,
            depth: 0,
            steps: 0,
        }
    }

    /// Coerces `value` to `schema`, a subschema of the root.
    pub(super) fn value(&mut self, schema: &Value, value: Value) -> Value {
        let Value::Object(keywords) = schema else {
            return value;
        };
        if self.depth > DEEPEST || self.steps >= MAX_STEPS {
            return value;
        }
        self.steps += 1;
        self.depth += 1;
        let value = match value {
            Value::String(text) => {
                parse_text(&text, self.allowed_types(schema)).unwrap_or(Value::String(text))
            }
            Value::Number(number) => Value::Number(match self.allowed_types(schema) {
                Types {
                    integer: true,
                    fraction: false,
                    ..
                } => to_integer(number),
                _ => number,
            }),
            Value::Array(_) | Value::Object(_) => {
                keywords.iter().fold(value, |value, (keyword, rule)| {
                    self.keyword(keywords, keyword, rule, value)
                })
            }
            other => other,
        };
        self.depth -= 1;
        value
    }

    /// Returns the types that `schema` allows.
    fn allowed_types(&self, schema: &Value) -> Types {
        Types::allowed_by(schema, &self.schema.root, DEEPEST)
    }

    fn keyword(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: Value,
    ) -> Value {
        match (keyword, value) {
            ("$ref", value) => {
                let name = rule.as_str();
                match name.and_then(|name| target(&self.schema.root, name)) {
                    Some(schema) => self.value(schema, value),
                    None => value,
                }
            }
            ("allOf", value) => {
                let schemas = rule.as_array().into_iter().flatten();
                schemas.fold(value, |value, schema| self.value(schema, value))
            }
            ("anyOf" | "oneOf", value) => self.one_of(rule, value),
            (
                "properties" | "patternProperties" | "additionalProperties",
                Value::Object(mut fields),
            ) => {
                fields.retain(|name, value| {
                    let schemas = self.field_schemas(keywords, keyword, rule, name);
                    let is_left_out = value.is_null()
                        && keyword == "properties"
                        && !is_required(keywords, name)
                        && schemas
                            .iter()
                            .any(|schema| !self.allowed_types(schema).null);
                    for schema in schemas {
                        *value = self.value(schema, value.take());
                    }
                    !is_left_out
                });
                Value::Object(fields)
            }
            ("prefixItems", Value::Array(mut items)) => {
                let schemas = rule.as_array().into_iter().flatten();
                for (schema, item) in schemas.zip(&mut items) {
                    *item = self.value(schema, item.take());
                }
                Value::Array(items)
            }
            ("items", Value::Array(mut items)) => {
                let before = keywords.get("prefixItems").and_then(Value::as_array);
                for item in items.iter_mut().skip(before.map_or(0, Vec::len)) {
                    *item = self.value(rule, item.take());
                }
                Value::Array(items)
            }
            (_, value) => value,
        }
    }

    /// Returns the schemas that `keyword` applies to the field `name`.
    fn field_schemas<'v>(
        &self,
        keywords: &Map<String, Value>,
        keyword: &str,
        rule: &'v Value,
        name: &str,
    ) -> Vec<&'v Value> {
        let check = Check::new(self.schema);
        match keyword {
            "properties" => rule.get(name).into_iter().collect(),
            "patternProperties" => {
                let by_pattern = rule.as_object().into_iter().flatten();
                let matching = by_pattern.filter(|(pattern, _)| check.matches(pattern, name));
                matching.map(|(_, schema)| schema).collect()
            }
            _ if check.is_named(keywords, name) => Vec::new(),
            _ => vec![rule],
        }
    }

    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let mut check = Check::new(self.schema);
        check.steps = self.steps;
        let fits = check.fits(schema, value);
        self.steps = check.steps;
        fits
    }

    /// Returns the coerced form of the alternative that fits. If several alternatives fit with
    /// different results, returns `value` unchanged.
    fn one_of(&mut self, schemas: &Value, value: Value) -> Value {
        let mut found: Option<Value> = None;
        for schema in schemas.as_array().into_iter().flatten() {
            let coerced = self.value(schema, value.clone());
            if !self.fits(schema, &coerced) {
                continue;
            }
            match &found {
                // A value that already fits needs no coercion.
                _ if coerced == value => return value,
                Some(other) if *other != coerced => return value,
                _ => found = Some(coerced),
            }
        }
        found.unwrap_or(value)
    }
}

fn is_required(keywords: &Map<String, Value>, name: &str) -> bool {
    let names = keywords.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Converts an integral float such as `3.0` to the integer `3`.
fn to_integer(number: Number) -> Number {
    /// From here on, `f64` does not represent every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

/// Returns the value that `text` denotes if only the types in `allowed` are permitted, or `None` if
/// it stays a string.
fn parse_text(text: &str, allowed: Types) -> Option<Value> {
    if allowed.string {
        return None;
    }
    match text {
        "true" | "false" => allowed.boolean.then(|| Value::Bool(text == "true")),
        _ => parse_number(text, allowed).map(Value::Number),
    }
}

/// Parses a number in JSON notation. An integer must be exactly representable.
fn parse_number(text: &str, allowed: Types) -> Option<Number> {
    // The parser would accept surrounding white space, but it is not part of a number.
    if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        || text.ends_with(char::is_whitespace)
    {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let is_whole = !text.contains(['.', 'e', 'E']);
    match (is_whole, number.is_f64()) {
        // The integer was too large and became a float.
        (true, true) => None,
        (true, false) => allowed.integer.then_some(number),
        (false, _) => allowed.fraction.then_some(number),
    }
}

#[cfg(test)]
mod tests;
