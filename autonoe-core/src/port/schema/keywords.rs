//! What of a schema is understood.

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// How deep a schema may be nested.
const DEEPEST: usize = 100;

/// Keywords that say something about values, and that no tool was seen to use.
const NOT_UNDERSTOOD: [&str; 14] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Looks whether all of `schema` is understood, and collects its patterns.
pub(super) fn understand(
    schema: &Value,
    root: &Value,
    patterns: &mut HashMap<String, Regex>,
) -> Result<(), String> {
    Look { root, patterns }.at(schema, 0)
}

struct Look<'s> {
    root: &'s Value,
    patterns: &'s mut HashMap<String, Regex>,
}

impl Look<'_> {
    fn at(&mut self, schema: &Value, depth: usize) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(keywords) => keywords,
            other => return Err(format!("{other} is no schema")),
        };
        if depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        for (keyword, said) in keywords {
            self.keyword(keyword, said, depth)
                .map_err(|wrong| format!("{keyword}: {wrong}"))?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, said: &Value, depth: usize) -> Result<(), String> {
        match keyword {
            "type" => types(said),
            "enum" => is(said.is_array(), "it must be a list"),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                is(said.is_number(), "it must be a number")
            }
            "multipleOf" => {
                let is_positive = said.as_f64().is_some_and(|number| number > 0.0);
                is(is_positive, "it must be a number above 0")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => is(said.is_u64(), "it must be a count"),
            "uniqueItems" => is(said.is_boolean(), "it must be true or false"),
            "required" => names(said),
            "pattern" => match said.as_str() {
                Some(pattern) => self.pattern(pattern),
                None => Err("it must be a text".to_owned()),
            },
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => self.at(said, depth + 1),
            "properties" | "$defs" | "definitions" => self.each(map(said)?, depth),
            "patternProperties" => {
                let by_pattern = map(said)?;
                for pattern in by_pattern.keys() {
                    self.pattern(pattern)?;
                }
                self.each(by_pattern, depth)
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let schemas = said.as_array().ok_or("it must be a list of schemas")?;
                is(!schemas.is_empty(), "it must not be empty")?;
                schemas
                    .iter()
                    .try_for_each(|schema| self.at(schema, depth + 1))
            }
            "$ref" => match said.as_str() {
                Some(reference) if target(self.root, reference).is_some() => Ok(()),
                _ => Err(format!("{said} leads nowhere in this schema")),
            },
            known if NOT_UNDERSTOOD.contains(&known) => Err("it is not understood".to_owned()),
            // Titles, examples and whatever else says nothing about values.
            _ => Ok(()),
        }
    }

    fn each(&mut self, schemas: &Map<String, Value>, depth: usize) -> Result<(), String> {
        schemas.iter().try_for_each(|(name, schema)| {
            self.at(schema, depth + 1)
                .map_err(|wrong| format!("{name}: {wrong}"))
        })
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }
}

/// Finds what `reference` leads to: the whole, or a part of it by its pointer.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    // Escapes of addresses would have to be taken back.
    (!pointer.contains('%')).then(|| root.pointer(pointer))?
}

fn is(holds: bool, else_say: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(else_say.to_owned()),
    }
}

fn map(said: &Value) -> Result<&Map<String, Value>, String> {
    said.as_object()
        .ok_or_else(|| "it must be an object".to_owned())
}

fn names(said: &Value) -> Result<(), String> {
    let all = said
        .as_array()
        .is_some_and(|names| names.iter().all(Value::is_string));
    is(all, "it must be a list of names")
}

fn types(said: &Value) -> Result<(), String> {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let all = match said {
        Value::Array(names) => !names.is_empty() && names.iter().all(known),
        name => known(name),
    };
    is(all, "it must name types")
}
