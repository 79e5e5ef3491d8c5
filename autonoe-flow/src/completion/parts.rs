//! Serialized form of a [`Completion`]: a type name and its configuration object.

use autonoe_core::project::config_parts::{below, inside};
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::kinds::{Completion, CompletionType};

/// Whether files must have the settings of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// A completion as its type name and the configuration object of that type.
#[derive(Clone, Debug)]
pub(crate) struct CompletionParts {
    pub(crate) name: CompletionType,
    pub(crate) config: Option<Value>,
}

impl CompletionParts {
    /// Reads the completion. The field `field` holds the configuration object and is named in
    /// errors.
    pub(crate) fn read(self, field: &str) -> Result<Completion, String> {
        let is_there = self.config.is_some();
        let config = self.config.unwrap_or_else(|| Value::Object(Map::new()));
        let read = Completion::read(self.name, &config);
        read.map_err(|error| {
            if is_there {
                inside(&below("", field), &error)
            } else {
                format!(
                    "`{}` needs an object in `{field}`: {error}",
                    self.name.name()
                )
            }
        })
    }

    /// Splits `completion` into its name and its configuration.
    pub(crate) fn from_completion(completion: &Completion) -> Self {
        Self {
            name: completion.completion_type(),
            config: completion.config(),
        }
    }
}

/// Returns `config` as JSON, or `None` if it has no fields. Definitions always serialize.
pub(super) fn to_config(config: &impl Serialize) -> Option<Value> {
    let value = serde_json::to_value(config).ok()?;
    Some(value).filter(|value| value.as_object().is_none_or(|fields| !fields.is_empty()))
}

/// Adds the configuration object of each type name to the object schema `schema`.
pub(crate) fn completion_schema(
    schema: &mut Schema,
    generator: &mut SchemaGenerator,
    name_field: &str,
    config_field: &str,
) {
    let mut variants = Vec::new();
    for (name, config, need) in CompletionType::schemas(generator) {
        let required: &[&str] = match need {
            Need::Required => &[name_field, config_field],
            Need::Optional => &[name_field],
        };
        variants.push(json!({
            "properties": {name_field: {"const": name.name()}, config_field: config},
            "required": required,
        }));
    }
    schema.insert("oneOf".to_owned(), Value::Array(variants));
}
