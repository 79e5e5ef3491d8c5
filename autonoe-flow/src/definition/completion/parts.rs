//! Serialized form of a [`Completion`]: a type name and its configuration object.

use autonoe_core::project::config_parts::{below, inside, read_part};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    CheckBudget, Completion, CompletionType, Composite, Deliverables, ExternalState,
    IterationBudget, KeywordSignal, PhaseCompletion, StepMachine, StructuredSignal,
};
use crate::port::{known_completions, read_custom};

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
        let read = match self.name {
            CompletionType::StepMachine => read_part(&config).map(Completion::StepMachine),
            CompletionType::IterationBudget => read_part(&config).map(Completion::IterationBudget),
            CompletionType::CheckBudget => read_part(&config).map(Completion::CheckBudget),
            CompletionType::KeywordSignal => read_part(&config).map(Completion::KeywordSignal),
            CompletionType::StructuredSignal => {
                read_part(&config).map(Completion::StructuredSignal)
            }
            CompletionType::PhaseCompletion => read_part(&config).map(Completion::PhaseCompletion),
            CompletionType::ExternalState => read_part(&config).map(Completion::ExternalState),
            CompletionType::Deliverables => read_part(&config).map(Completion::Deliverables),
            CompletionType::Composite => read_part(&config).map(Completion::Composite),
            CompletionType::Custom => read_custom(&config).map(Completion::Custom),
        };
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
        let config = match completion {
            Completion::StepMachine(config) => to_config(config),
            Completion::IterationBudget(config) => to_config(config),
            Completion::CheckBudget(config) => to_config(config),
            Completion::KeywordSignal(config) => to_config(config),
            Completion::StructuredSignal(config) => to_config(config),
            Completion::PhaseCompletion(config) => to_config(config),
            Completion::ExternalState(config) => to_config(config),
            Completion::Deliverables(config) => to_config(config),
            Completion::Composite(config) => to_config(config),
            Completion::Custom(config) => to_config(config),
        };
        Self {
            name: completion.completion_type(),
            config,
        }
    }
}

/// Returns `config` as JSON, or `None` if it has no fields. Definitions always serialize.
fn to_config(config: &impl Serialize) -> Option<Value> {
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
    for (name, config, is_required) in [
        variant_schema::<StepMachine>(CompletionType::StepMachine, generator, false),
        variant_schema::<IterationBudget>(CompletionType::IterationBudget, generator, true),
        variant_schema::<CheckBudget>(CompletionType::CheckBudget, generator, true),
        variant_schema::<KeywordSignal>(CompletionType::KeywordSignal, generator, true),
        variant_schema::<StructuredSignal>(CompletionType::StructuredSignal, generator, true),
        variant_schema::<PhaseCompletion>(CompletionType::PhaseCompletion, generator, true),
        variant_schema::<ExternalState>(CompletionType::ExternalState, generator, true),
        variant_schema::<Deliverables>(CompletionType::Deliverables, generator, false),
        variant_schema::<Composite>(CompletionType::Composite, generator, true),
        (
            CompletionType::Custom,
            json_schema!({
                "type": "object",
                "properties": {"type": {"type": "string", "examples": known_completions()}},
                "required": ["type"],
            }),
            true,
        ),
    ] {
        let required: &[&str] = if is_required {
            &[name_field, config_field]
        } else {
            &[name_field]
        };
        variants.push(json!({
            "properties": {name_field: {"const": name.name()}, config_field: config},
            "required": required,
        }));
    }
    schema.insert("oneOf".to_owned(), Value::Array(variants));
}

fn variant_schema<T: JsonSchema>(
    name: CompletionType,
    generator: &mut SchemaGenerator,
    is_required: bool,
) -> (CompletionType, Schema, bool) {
    (name, generator.subschema_for::<T>(), is_required)
}
