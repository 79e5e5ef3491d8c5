//! Validates values against a supported JSON Schema.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::InputSchema;
use super::keywords::target;
use super::types::{compare, is_integer, is_multiple, json_eq};

/// Maximum depth of nested schemas and references before a schema counts as circular.
const DEEPEST: usize = 200;

/// Maximum number of schemas that one value is checked against. Recursive alternatives can require
/// exponentially many checks.
pub(super) const MAX_STEPS: usize = 1_000_000;

/// Maximum number of characters of a value quoted in a violation.
const MAX_QUOTED_CHARS: usize = 60;

/// Violations of a schema, each with the path of the offending value.
#[derive(Debug, Default)]
pub(super) struct Violations {
    texts: Vec<String>,
    path: Vec<String>,
}

impl Violations {
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    fn add(&mut self, problem: impl AsRef<str>) {
        let problem = problem.as_ref();
        self.texts.push(if self.path.is_empty() {
            problem.to_owned()
        } else {
            format!("/{}: {problem}", self.path.join("/"))
        });
    }
}

/// A validation in progress.
pub(super) struct Check<'s> {
    schema: &'s InputSchema,
    depth: usize,
    /// Number of schemas checked so far.
    pub(super) steps: usize,
}

impl<'s> Check<'s> {
    pub(super) fn new(schema: &'s InputSchema) -> Self {
        Self {
            schema,
            depth: 0,
            steps: 0,
        }
    }

    /// Checks `value` against `schema`, a subschema of the root, and adds violations to `to`.
    pub(super) fn value(&mut self, schema: &Value, value: &Value, to: &mut Violations) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            _ => return to.add("no value is allowed here"),
        };
        if self.depth > DEEPEST {
            return to.add("its schema refers to itself endlessly");
        }
        if self.steps >= MAX_STEPS {
            return to.add("it is too large to check");
        }
        self.steps += 1;
        self.depth += 1;
        for (keyword, rule) in keywords {
            self.keyword(keywords, keyword, rule, value, to);
        }
        self.depth -= 1;
    }

    /// Returns whether `value` satisfies `schema`, a subschema of the root.
    pub(super) fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let mut complaints = Violations::default();
        self.value(schema, value, &mut complaints);
        complaints.texts.is_empty()
    }

    fn keyword(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        to: &mut Violations,
    ) {
        match keyword {
            "type" => {
                let names = rule
                    .as_array()
                    .map_or(std::slice::from_ref(rule), Vec::as_slice);
                if !names.iter().any(|name| is_of_type(value, name)) {
                    to.add(format!("{} is not of type {rule}", quote(value)));
                }
            }
            "enum" => {
                let all = rule.as_array().into_iter().flatten();
                if !all.into_iter().any(|one| json_eq(one, value)) {
                    to.add(format!("{} is not one of {rule}", quote(value)));
                }
            }
            "const" if !json_eq(rule, value) => {
                to.add(format!("{} is not {rule}", quote(value)));
            }
            "$ref" => match rule
                .as_str()
                .and_then(|name| target(&self.schema.root, name))
            {
                Some(schema) => self.value(schema, value, to),
                None => to.add("its schema has a broken $ref"),
            },
            "allOf" => {
                for schema in rule.as_array().into_iter().flatten() {
                    self.value(schema, value, to);
                }
            }
            "anyOf" | "oneOf" => {
                let schemas = rule.as_array().into_iter().flatten();
                let fitting = schemas.filter(|schema| self.fits(schema, value)).count();
                match fitting {
                    0 => to.add(format!(
                        "{} matches none of the allowed schemas",
                        quote(value)
                    )),
                    1 => {}
                    _ if keyword == "anyOf" => {}
                    _ => to.add(format!(
                        "{} matches more than one schema of oneOf",
                        quote(value)
                    )),
                }
            }
            "not" if self.fits(rule, value) => {
                to.add(format!(
                    "{} matches a schema that is not allowed",
                    quote(value)
                ));
            }
            "if" => {
                let branch = if self.fits(rule, value) {
                    "then"
                } else {
                    "else"
                };
                if let Some(schema) = keywords.get(branch) {
                    self.value(schema, value, to);
                }
            }
            _ => match value {
                Value::Object(fields) => self.object(keywords, keyword, rule, fields, to),
                Value::Array(items) => self.array(keywords, keyword, rule, items, to),
                Value::String(text) => self.text(keyword, rule, text, to),
                Value::Number(number) => {
                    let Value::Number(limit) = rule else { return };
                    let order = compare(number, limit);
                    let wrong = match keyword {
                        "minimum" => order.is_none_or(Ordering::is_lt),
                        "maximum" => order.is_none_or(Ordering::is_gt),
                        "exclusiveMinimum" => order.is_none_or(Ordering::is_le),
                        "exclusiveMaximum" => order.is_none_or(Ordering::is_ge),
                        "multipleOf" => !is_multiple(number, limit),
                        _ => false,
                    };
                    if wrong {
                        to.add(format!("{number} breaks {keyword} {limit}"));
                    }
                }
                _ => {}
            },
        }
    }

    fn object(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        fields: &Map<String, Value>,
        to: &mut Violations,
    ) {
        match keyword {
            "required" => {
                for name in rule
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                {
                    if !fields.contains_key(name) {
                        to.add(format!("{name:?} is a required property"));
                    }
                }
            }
            "properties" => {
                for (name, schema) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = fields.get(name) {
                        self.nested(name, schema, value, to);
                    }
                }
            }
            "patternProperties" => {
                for (pattern, schema) in rule.as_object().into_iter().flatten() {
                    let named = fields
                        .iter()
                        .filter(|(name, _)| self.matches(pattern, name));
                    for (name, value) in named.collect::<Vec<_>>() {
                        self.nested(name, schema, value, to);
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in fields {
                    if self.is_named(keywords, name) {
                        continue;
                    }
                    if rule == &Value::Bool(false) {
                        to.add(format!("{name:?} is unexpected"));
                    } else {
                        self.nested(name, rule, value, to);
                    }
                }
            }
            "propertyNames" => {
                for name in fields.keys() {
                    if !self.fits(rule, &Value::from(name.as_str())) {
                        to.add(format!("{name:?} is not an allowed property name"));
                    }
                }
            }
            "minProperties" | "maxProperties" => {
                count(keyword, rule, fields.len(), "properties", to);
            }
            _ => {}
        }
    }

    fn array(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        items: &[Value],
        to: &mut Violations,
    ) {
        match keyword {
            "prefixItems" => {
                let schemas = rule.as_array().into_iter().flatten();
                for (index, (schema, item)) in schemas.zip(items).enumerate() {
                    self.nested(&index.to_string(), schema, item, to);
                }
            }
            "items" => {
                let prefix = keywords.get("prefixItems").and_then(Value::as_array);
                let prefix_len = prefix.map_or(0, Vec::len);
                for (index, item) in items.iter().enumerate().skip(prefix_len) {
                    self.nested(&index.to_string(), rule, item, to);
                }
            }
            "contains" if !items.iter().any(|item| self.fits(rule, item)) => {
                to.add("it lacks a required item");
            }
            "minItems" | "maxItems" => count(keyword, rule, items.len(), "items", to),
            "uniqueItems" if rule == &Value::Bool(true) => {
                let mut rest = items.iter();
                while let Some(item) = rest.next() {
                    if rest.clone().any(|other| json_eq(item, other)) {
                        to.add(format!("{} occurs twice", quote(item)));
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&self, keyword: &str, rule: &Value, text: &str, to: &mut Violations) {
        match (keyword, rule) {
            ("minLength" | "maxLength", limit) => {
                count(keyword, limit, text.chars().count(), "characters", to);
            }
            ("pattern", Value::String(pattern)) if !self.matches(pattern, text) => {
                to.add(format!(
                    "{} does not match {pattern:?}",
                    quote(&text.into())
                ));
            }
            _ => {}
        }
    }

    fn nested(&mut self, name: &str, schema: &Value, value: &Value, to: &mut Violations) {
        to.path.push(name.to_owned());
        self.value(schema, value, to);
        to.path.pop();
    }

    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let known = self.schema.patterns.get(pattern);
        known.is_some_and(|pattern| pattern.is_match(text))
    }

    /// Returns whether `properties` or `patternProperties` covers the property `name`.
    pub(super) fn is_named(&self, keywords: &Map<String, Value>, name: &str) -> bool {
        let object = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        object("properties").is_some_and(|properties| properties.contains_key(name))
            || object("patternProperties")
                .is_some_and(|patterns| patterns.keys().any(|pattern| self.matches(pattern, name)))
    }
}

fn count(keyword: &str, limit: &Value, has: usize, unit: &str, to: &mut Violations) {
    let (has, limit) = (has as u64, limit.as_u64().unwrap_or_default());
    let wrong = if keyword.starts_with("min") {
        has < limit
    } else {
        has > limit
    };
    if wrong {
        let bound = if keyword.starts_with("min") {
            "least"
        } else {
            "most"
        };
        to.add(format!(
            "it has {has} {unit} and must have at {bound} {limit}"
        ));
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match (name.as_str(), value) {
        (Some("array"), Value::Array(_))
        | (Some("boolean"), Value::Bool(_))
        | (Some("null"), Value::Null)
        | (Some("number"), Value::Number(_))
        | (Some("object"), Value::Object(_))
        | (Some("string"), Value::String(_)) => true,
        (Some("integer"), Value::Number(number)) => is_integer(number),
        _ => false,
    }
}

/// Formats a value, truncated to [`MAX_QUOTED_CHARS`] characters.
fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
