//! What models write for numbers, booleans and nothing.

use serde_json::{Map, Number, Value};

use super::InputSchema;
use super::check::{Check, MOST};
use super::keywords::target;
use super::types::Types;

/// How often a schema may lead to another before it is left alone.
const DEEPEST: usize = 100;

/// A coercion under way.
pub(super) struct Coercion<'s> {
    schema: &'s InputSchema,
    depth: usize,
    /// How many schemas values were put to.
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

    /// Returns `value` as `schema`, a part of the whole, wants it.
    pub(super) fn value(&mut self, schema: &Value, value: Value) -> Value {
        let Value::Object(keywords) = schema else {
            return value;
        };
        if self.depth > DEEPEST || self.steps >= MOST {
            return value;
        }
        self.steps += 1;
        self.depth += 1;
        let value = match value {
            Value::String(text) => meant(&text, self.open(schema)).unwrap_or(Value::String(text)),
            Value::Number(number) => Value::Number(match self.open(schema) {
                Types {
                    integer: true,
                    fraction: false,
                    ..
                } => whole(number),
                _ => number,
            }),
            Value::Array(_) | Value::Object(_) => {
                keywords.iter().fold(value, |value, (keyword, said)| {
                    self.keyword(keywords, keyword, said, value)
                })
            }
            other => other,
        };
        self.depth -= 1;
        value
    }

    /// Returns the types that may stand where `schema` is asked.
    fn open(&self, schema: &Value) -> Types {
        Types::open_in(schema, &self.schema.root, DEEPEST)
    }

    fn keyword(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        said: &Value,
        value: Value,
    ) -> Value {
        match (keyword, value) {
            ("$ref", value) => {
                let name = said.as_str();
                match name.and_then(|name| target(&self.schema.root, name)) {
                    Some(schema) => self.value(schema, value),
                    None => value,
                }
            }
            ("allOf", value) => {
                let schemas = said.as_array().into_iter().flatten();
                schemas.fold(value, |value, schema| self.value(schema, value))
            }
            ("anyOf" | "oneOf", value) => self.one_of(said, value),
            (
                "properties" | "patternProperties" | "additionalProperties",
                Value::Object(mut fields),
            ) => {
                fields.retain(|name, value| {
                    let schemas = self.of_field(keywords, keyword, said, name);
                    let is_left_out = value.is_null()
                        && keyword == "properties"
                        && !is_required(keywords, name)
                        && schemas.iter().any(|schema| !self.open(schema).null);
                    for schema in schemas {
                        *value = self.value(schema, value.take());
                    }
                    !is_left_out
                });
                Value::Object(fields)
            }
            ("prefixItems", Value::Array(mut items)) => {
                let schemas = said.as_array().into_iter().flatten();
                for (schema, item) in schemas.zip(&mut items) {
                    *item = self.value(schema, item.take());
                }
                Value::Array(items)
            }
            ("items", Value::Array(mut items)) => {
                let before = keywords.get("prefixItems").and_then(Value::as_array);
                for item in items.iter_mut().skip(before.map_or(0, Vec::len)) {
                    *item = self.value(said, item.take());
                }
                Value::Array(items)
            }
            (_, value) => value,
        }
    }

    /// Returns what `keyword` says about the field `name`.
    fn of_field<'v>(
        &self,
        keywords: &Map<String, Value>,
        keyword: &str,
        said: &'v Value,
        name: &str,
    ) -> Vec<&'v Value> {
        let check = Check::new(self.schema);
        match keyword {
            "properties" => said.get(name).into_iter().collect(),
            "patternProperties" => {
                let by_pattern = said.as_object().into_iter().flatten();
                let matching = by_pattern.filter(|(pattern, _)| check.matches(pattern, name));
                matching.map(|(_, schema)| schema).collect()
            }
            _ if check.is_named(keywords, name) => Vec::new(),
            _ => vec![said],
        }
    }

    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let mut check = Check::new(self.schema);
        check.steps = self.steps;
        let fits = check.fits(schema, value);
        self.steps = check.steps;
        fits
    }

    /// Takes the shape that fits; if there are several that differ, none.
    fn one_of(&mut self, schemas: &Value, value: Value) -> Value {
        let mut found: Option<Value> = None;
        for schema in schemas.as_array().into_iter().flatten() {
            let shaped = self.value(schema, value.clone());
            if !self.fits(schema, &shaped) {
                continue;
            }
            match &found {
                // What fits as it is needs no help.
                _ if shaped == value => return value,
                Some(other) if *other != shaped => return value,
                _ => found = Some(shaped),
            }
        }
        found.unwrap_or(value)
    }
}

fn is_required(keywords: &Map<String, Value>, name: &str) -> bool {
    let names = keywords.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Writes `3.0` as `3`, which is the same number and the one that is read as a whole one.
fn whole(number: Number) -> Number {
    /// From here on not every whole number can be told from its neighbours.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

/// Returns what `text` means where only `open` types may stand, or `None` if it stays a text.
fn meant(text: &str, open: Types) -> Option<Value> {
    if open.string {
        return None;
    }
    match text {
        "true" | "false" => open.boolean.then(|| Value::Bool(text == "true")),
        _ => number(text, open).map(Value::Number),
    }
}

/// Reads a number as JSON writes it. A whole one must be exact.
fn number(text: &str, open: Types) -> Option<Number> {
    // White space around a number is not part of it, but the parser would not mind.
    if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        || text.ends_with(char::is_whitespace)
    {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let is_whole = !text.contains(['.', 'e', 'E']);
    match (is_whole, number.is_f64()) {
        // It was too large for a whole number.
        (true, true) => None,
        (true, false) => open.integer.then_some(number),
        (false, _) => open.fraction.then_some(number),
    }
}

#[cfg(test)]
mod tests;
