//! [`Types`], the set of JSON types that a schema allows, and the comparison of numbers.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::keywords::target;

/// Set of JSON types. `integer` and `fraction` together are all numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) boolean: bool,
    pub(super) integer: bool,
    /// Numbers with a fractional part.
    pub(super) fraction: bool,
    pub(super) string: bool,
    pub(super) null: bool,
    /// Arrays and objects.
    pub(super) other: bool,
}

impl Types {
    const ALL: Self = Self::all_are(true);
    const NONE: Self = Self::all_are(false);

    const fn all_are(allowed: bool) -> Self {
        Self {
            boolean: allowed,
            integer: allowed,
            fraction: allowed,
            string: allowed,
            null: allowed,
            other: allowed,
        }
    }

    fn or(self, rhs: Self) -> Self {
        Self {
            boolean: self.boolean | rhs.boolean,
            integer: self.integer | rhs.integer,
            fraction: self.fraction | rhs.fraction,
            string: self.string | rhs.string,
            null: self.null | rhs.null,
            other: self.other | rhs.other,
        }
    }

    fn and(self, rhs: Self) -> Self {
        Self {
            boolean: self.boolean & rhs.boolean,
            integer: self.integer & rhs.integer,
            fraction: self.fraction & rhs.fraction,
            string: self.string & rhs.string,
            null: self.null & rhs.null,
            other: self.other & rhs.other,
        }
    }

    fn named(name: &str) -> Self {
        let mut types = Self::NONE;
        match name {
            "boolean" => types.boolean = true,
            "integer" => types.integer = true,
            "number" => (types.integer, types.fraction) = (true, true),
            "string" => types.string = true,
            "null" => types.null = true,
            _ => types.other = true,
        }
        types
    }

    fn of_value(value: &Value) -> Self {
        Self::named(match value {
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Null => "null",
            _ => "other",
        })
    }

    /// Returns the types that `schema`, a subschema of `root`, allows. In doubt, returns all types.
    pub(super) fn allowed_by(schema: &Value, root: &Value, depth: usize) -> Self {
        match schema {
            Value::Bool(false) => Self::NONE,
            Value::Object(keywords) if depth > 0 => Self::from_keywords(keywords, root, depth - 1),
            _ => Self::ALL,
        }
    }

    fn from_keywords(keywords: &Map<String, Value>, root: &Value, depth: usize) -> Self {
        let any = |schemas: &Value| {
            let schemas = schemas.as_array().into_iter().flatten();
            schemas.fold(Self::NONE, |types, schema| {
                types.or(Self::allowed_by(schema, root, depth))
            })
        };
        keywords.iter().fold(Self::ALL, |types, (keyword, rule)| {
            types.and(match keyword.as_str() {
                "type" => match rule {
                    Value::Array(names) => {
                        let names = names.iter().filter_map(Value::as_str);
                        names.fold(Self::NONE, |types, name| types.or(Self::named(name)))
                    }
                    name => name.as_str().map_or(Self::ALL, Self::named),
                },
                "enum" => {
                    let values = rule.as_array().into_iter().flatten();
                    values.fold(Self::NONE, |types, value| types.or(Self::of_value(value)))
                }
                "const" => Self::of_value(rule),
                "$ref" => match rule.as_str().and_then(|name| target(root, name)) {
                    Some(schema) => Self::allowed_by(schema, root, depth),
                    None => Self::ALL,
                },
                "allOf" => {
                    let schemas = rule.as_array().into_iter().flatten();
                    schemas.fold(Self::ALL, |types, schema| {
                        types.and(Self::allowed_by(schema, root, depth))
                    })
                }
                "anyOf" | "oneOf" => any(rule),
                _ => Self::ALL,
            })
        })
    }
}

/// Returns whether two values are equal.
pub(super) fn json_eq(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| json_eq(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| json_eq(value, other))
            };
            one.len() == other.len() && one.iter().all(is_in)
        }
        (one, other) => one == other,
    }
}

/// Compares two numbers; `None` if one of them is not comparable.
pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

pub(super) fn is_integer(number: &Number) -> bool {
    number.as_i128().is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Returns whether `number` is a multiple divisor `divisor`, which must be positive.
pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.as_i128(), divisor.as_i128()) {
        return number.checked_rem(divisor) == Some(0);
    }
    let (Some(number), Some(divisor)) = (number.as_f64(), divisor.as_f64()) else {
        return false;
    };
    let times = number / divisor;
    // In binary, 0.3 is not exactly three times 0.1, but it must count as a multiple.
    (times - times.round()).abs() < 1e-9
}
