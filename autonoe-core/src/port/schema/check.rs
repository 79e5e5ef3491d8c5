//! Whether a value fits a schema that is understood.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::InputSchema;
use super::keywords::target;
use super::numbers::{compare, is_integer, is_multiple, same};

/// How often a schema may lead to another before it is taken for a circle.
const DEEPEST: usize = 200;

/// How many schemas a value may be put to. A schema of alternatives that lead to themselves can ask
/// for more than anybody waits for.
pub(super) const MOST: usize = 1_000_000;

/// How much of a value is repeated in a complaint.
const SHOWN: usize = 60;

/// What is wrong with a value, and where.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    texts: Vec<String>,
    place: Vec<String>,
}

impl Complaints {
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    fn add(&mut self, what: impl AsRef<str>) {
        let what = what.as_ref();
        self.texts.push(match self.place.is_empty() {
            true => what.to_owned(),
            false => format!("/{}: {what}", self.place.join("/")),
        });
    }
}

/// A check under way.
pub(super) struct Check<'s> {
    schema: &'s InputSchema,
    depth: usize,
    /// How many schemas values were put to.
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

    /// Checks `value` against `schema`, which is a part of the whole.
    pub(super) fn value(&mut self, schema: &Value, value: &Value, to: &mut Complaints) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            _ => return to.add("nothing may stand here"),
        };
        if self.depth > DEEPEST {
            return to.add("its schema goes round in a circle");
        }
        if self.steps >= MOST {
            return to.add("it is too much to be checked");
        }
        self.steps += 1;
        self.depth += 1;
        for (keyword, said) in keywords {
            self.keyword(keywords, keyword, said, value, to);
        }
        self.depth -= 1;
    }

    /// Tells whether `value` fits `schema`, which is a part of the whole.
    pub(super) fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let mut complaints = Complaints::default();
        self.value(schema, value, &mut complaints);
        complaints.texts.is_empty()
    }

    fn keyword(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        said: &Value,
        value: &Value,
        to: &mut Complaints,
    ) {
        match keyword {
            "type" => {
                let names = said
                    .as_array()
                    .map_or(std::slice::from_ref(said), Vec::as_slice);
                if !names.iter().any(|name| is_of_type(value, name)) {
                    to.add(format!("{} is not of type {said}", shown(value)));
                }
            }
            "enum" => {
                let all = said.as_array().into_iter().flatten();
                if !all.into_iter().any(|one| same(one, value)) {
                    to.add(format!("{} is not one of {said}", shown(value)));
                }
            }
            "const" if !same(said, value) => {
                to.add(format!("{} is not {said}", shown(value)));
            }
            "$ref" => match said
                .as_str()
                .and_then(|name| target(&self.schema.root, name))
            {
                Some(schema) => self.value(schema, value, to),
                None => to.add("its schema leads nowhere"),
            },
            "allOf" => {
                for schema in said.as_array().into_iter().flatten() {
                    self.value(schema, value, to);
                }
            }
            "anyOf" | "oneOf" => {
                let schemas = said.as_array().into_iter().flatten();
                let fitting = schemas.filter(|schema| self.fits(schema, value)).count();
                match fitting {
                    0 => to.add(format!("{} is none of what it may be", shown(value))),
                    1 => {}
                    _ if keyword == "anyOf" => {}
                    _ => to.add(format!("{} is more than one thing", shown(value))),
                }
            }
            "not" if self.fits(said, value) => {
                to.add(format!("{} is what it must not be", shown(value)));
            }
            "if" => {
                let branch = if self.fits(said, value) {
                    "then"
                } else {
                    "else"
                };
                if let Some(schema) = keywords.get(branch) {
                    self.value(schema, value, to);
                }
            }
            _ => match value {
                Value::Object(fields) => self.object(keywords, keyword, said, fields, to),
                Value::Array(items) => self.array(keywords, keyword, said, items, to),
                Value::String(text) => self.text(keyword, said, text, to),
                Value::Number(number) => {
                    let Value::Number(limit) = said else { return };
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
        said: &Value,
        fields: &Map<String, Value>,
        to: &mut Complaints,
    ) {
        match keyword {
            "required" => {
                for name in said
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
                for (name, schema) in said.as_object().into_iter().flatten() {
                    if let Some(value) = fields.get(name) {
                        self.below(name, schema, value, to);
                    }
                }
            }
            "patternProperties" => {
                for (pattern, schema) in said.as_object().into_iter().flatten() {
                    let named = fields
                        .iter()
                        .filter(|(name, _)| self.matches(pattern, name));
                    for (name, value) in named.collect::<Vec<_>>() {
                        self.below(name, schema, value, to);
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in fields {
                    if self.is_named(keywords, name) {
                        continue;
                    }
                    if said == &Value::Bool(false) {
                        to.add(format!("{name:?} is unexpected"));
                    } else {
                        self.below(name, said, value, to);
                    }
                }
            }
            "propertyNames" => {
                for name in fields.keys() {
                    if !self.fits(said, &Value::from(name.as_str())) {
                        to.add(format!("{name:?} may not be a name here"));
                    }
                }
            }
            "minProperties" | "maxProperties" => {
                count(keyword, said, fields.len(), "properties", to);
            }
            _ => {}
        }
    }

    fn array(
        &mut self,
        keywords: &Map<String, Value>,
        keyword: &str,
        said: &Value,
        items: &[Value],
        to: &mut Complaints,
    ) {
        match keyword {
            "prefixItems" => {
                let schemas = said.as_array().into_iter().flatten();
                for (index, (schema, item)) in schemas.zip(items).enumerate() {
                    self.below(&index.to_string(), schema, item, to);
                }
            }
            "items" => {
                let before = keywords.get("prefixItems").and_then(Value::as_array);
                let before = before.map_or(0, Vec::len);
                for (index, item) in items.iter().enumerate().skip(before) {
                    self.below(&index.to_string(), said, item, to);
                }
            }
            "contains" if !items.iter().any(|item| self.fits(said, item)) => {
                to.add("it lacks an item that must be in it");
            }
            "minItems" | "maxItems" => count(keyword, said, items.len(), "items", to),
            "uniqueItems" if said == &Value::Bool(true) => {
                let mut rest = items.iter();
                while let Some(item) = rest.next() {
                    if rest.clone().any(|other| same(item, other)) {
                        to.add(format!("{} stands in it twice", shown(item)));
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&self, keyword: &str, said: &Value, text: &str, to: &mut Complaints) {
        match (keyword, said) {
            ("minLength" | "maxLength", limit) => {
                count(keyword, limit, text.chars().count(), "characters", to);
            }
            ("pattern", Value::String(pattern)) if !self.matches(pattern, text) => {
                to.add(format!(
                    "{} does not match {pattern:?}",
                    shown(&text.into())
                ));
            }
            _ => {}
        }
    }

    fn below(&mut self, name: &str, schema: &Value, value: &Value, to: &mut Complaints) {
        to.place.push(name.to_owned());
        self.value(schema, value, to);
        to.place.pop();
    }

    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let known = self.schema.patterns.get(pattern);
        known.is_some_and(|pattern| pattern.is_match(text))
    }

    /// Tells whether the schema speaks of the property `name` by itself.
    pub(super) fn is_named(&self, keywords: &Map<String, Value>, name: &str) -> bool {
        let of = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        of("properties").is_some_and(|properties| properties.contains_key(name))
            || of("patternProperties")
                .is_some_and(|patterns| patterns.keys().any(|pattern| self.matches(pattern, name)))
    }
}

fn count(keyword: &str, limit: &Value, has: usize, what: &str, to: &mut Complaints) {
    let (has, limit) = (has as u64, limit.as_u64().unwrap_or_default());
    let wrong = match keyword.starts_with("min") {
        true => has < limit,
        false => has > limit,
    };
    if wrong {
        let bound = if keyword.starts_with("min") {
            "least"
        } else {
            "most"
        };
        to.add(format!(
            "it has {has} {what} and must have at {bound} {limit}"
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

/// Writes a value, cut off where it gets long.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
