//! Which types of values a schema leaves open.

use serde_json::{Map, Value};

use super::keywords::target;

/// Some of the types of JSON. Whole numbers are numbers, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) boolean: bool,
    pub(super) integer: bool,
    /// Numbers that are not whole.
    pub(super) fraction: bool,
    pub(super) string: bool,
    pub(super) null: bool,
    /// Arrays and objects.
    pub(super) other: bool,
}

impl Types {
    const ALL: Self = Self::all_are(true);
    const NONE: Self = Self::all_are(false);

    const fn all_are(open: bool) -> Self {
        Self {
            boolean: open,
            integer: open,
            fraction: open,
            string: open,
            null: open,
            other: open,
        }
    }

    fn or(self, more: Self) -> Self {
        Self {
            boolean: self.boolean | more.boolean,
            integer: self.integer | more.integer,
            fraction: self.fraction | more.fraction,
            string: self.string | more.string,
            null: self.null | more.null,
            other: self.other | more.other,
        }
    }

    fn and(self, also: Self) -> Self {
        Self {
            boolean: self.boolean & also.boolean,
            integer: self.integer & also.integer,
            fraction: self.fraction & also.fraction,
            string: self.string & also.string,
            null: self.null & also.null,
            other: self.other & also.other,
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

    fn of(value: &Value) -> Self {
        Self::named(match value {
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Null => "null",
            _ => "other",
        })
    }

    /// Returns the types that `schema`, a part of `root`, leaves open. In doubt it is all of them.
    pub(super) fn open_in(schema: &Value, root: &Value, depth: usize) -> Self {
        match schema {
            Value::Bool(false) => Self::NONE,
            Value::Object(keywords) if depth > 0 => Self::by(keywords, root, depth - 1),
            _ => Self::ALL,
        }
    }

    fn by(keywords: &Map<String, Value>, root: &Value, depth: usize) -> Self {
        let any = |schemas: &Value| {
            let schemas = schemas.as_array().into_iter().flatten();
            schemas.fold(Self::NONE, |types, schema| {
                types.or(Self::open_in(schema, root, depth))
            })
        };
        keywords.iter().fold(Self::ALL, |types, (keyword, said)| {
            types.and(match keyword.as_str() {
                "type" => match said {
                    Value::Array(names) => {
                        let names = names.iter().filter_map(Value::as_str);
                        names.fold(Self::NONE, |types, name| types.or(Self::named(name)))
                    }
                    name => name.as_str().map_or(Self::ALL, Self::named),
                },
                "enum" => {
                    let values = said.as_array().into_iter().flatten();
                    values.fold(Self::NONE, |types, value| types.or(Self::of(value)))
                }
                "const" => Self::of(said),
                "$ref" => match said.as_str().and_then(|name| target(root, name)) {
                    Some(schema) => Self::open_in(schema, root, depth),
                    None => Self::ALL,
                },
                "allOf" => {
                    let schemas = said.as_array().into_iter().flatten();
                    schemas.fold(Self::ALL, |types, schema| {
                        types.and(Self::open_in(schema, root, depth))
                    })
                }
                "anyOf" | "oneOf" => any(said),
                _ => Self::ALL,
            })
        })
    }
}
