//! Validates that a JSON Schema uses only supported keywords.

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Maximum nesting depth of a schema.
const DEEPEST: usize = 100;

/// Keywords that constrain values but that no known tool uses.
const UNSUPPORTED: [&str; 14] = [
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

/// Checks that `schema` is well-formed and fully supported, and compiles its patterns.
pub(super) fn validate_schema(
    schema: &Value,
    root: &Value,
    patterns: &mut HashMap<String, Regex>,
) -> Result<(), String> {
    Validator { root, patterns }.validate(schema, 0)
}

struct Validator<'s> {
    root: &'s Value,
    patterns: &'s mut HashMap<String, Regex>,
}

impl Validator<'_> {
    fn validate(&mut self, schema: &Value, depth: usize) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(keywords) => keywords,
            other => return Err(format!("{other} is not a schema")),
        };
        if depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        for (keyword, rule) in keywords {
            self.keyword(keyword, rule, depth)
                .map_err(|wrong| format!("{keyword}: {wrong}"))?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, rule: &Value, depth: usize) -> Result<(), String> {
        match keyword {
            "type" => types(rule),
            "enum" => ensure(rule.is_array(), "it must be a list"),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                ensure(rule.is_number(), "it must be a number")
            }
            "multipleOf" => {
                let is_positive = rule.as_f64().is_some_and(|number| number > 0.0);
                ensure(is_positive, "it must be a number above 0")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => ensure(rule.is_u64(), "it must be a count"),
            "uniqueItems" => ensure(rule.is_boolean(), "it must be true or false"),
            "required" => names(rule),
            "pattern" => match rule.as_str() {
                Some(pattern) => self.pattern(pattern),
                None => Err("it must be a string".to_owned()),
            },
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => self.validate(rule, depth + 1),
            "properties" | "$defs" | "definitions" => self.each(map(rule)?, depth),
            "patternProperties" => {
                let by_pattern = map(rule)?;
                for pattern in by_pattern.keys() {
                    self.pattern(pattern)?;
                }
                self.each(by_pattern, depth)
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let schemas = rule.as_array().ok_or("it must be a list of schemas")?;
                ensure(!schemas.is_empty(), "it must not be empty")?;
                schemas
                    .iter()
                    .try_for_each(|schema| self.validate(schema, depth + 1))
            }
            "$ref" => match rule.as_str() {
                Some(reference) if target(self.root, reference).is_some() => Ok(()),
                _ => Err(format!("{rule} does not exist in this schema")),
            },
            known if UNSUPPORTED.contains(&known) => {
                Err("this keyword is not supported".to_owned())
            }
            // Titles, examples and other keywords that do not constrain values.
            _ => Ok(()),
        }
    }

    fn each(&mut self, schemas: &Map<String, Value>, depth: usize) -> Result<(), String> {
        schemas.iter().try_for_each(|(name, schema)| {
            self.validate(schema, depth + 1)
                .map_err(|wrong| format!("{name}: {wrong}"))
        })
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }
}

/// Resolves `reference` within `root`: the root itself, or a subschema by its JSON pointer.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    // Percent-escapes are not supported.
    (!pointer.contains('%')).then(|| root.pointer(pointer))?
}

fn ensure(condition: bool, message: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(message.to_owned())
    }
}

fn map(rule: &Value) -> Result<&Map<String, Value>, String> {
    rule.as_object()
        .ok_or_else(|| "it must be an object".to_owned())
}

fn names(rule: &Value) -> Result<(), String> {
    let all = rule
        .as_array()
        .is_some_and(|names| names.iter().all(Value::is_string));
    ensure(all, "it must be a list of names")
}

fn types(rule: &Value) -> Result<(), String> {
    const TYPES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let all = match rule {
        Value::Array(names) => !names.is_empty() && names.iter().all(known),
        name => known(name),
    };
    ensure(all, "it must name types")
}
