//! A completion as it stands in a file: a name, and what belongs to the name.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    CheckBudget, Completion, CompletionType, Composite, Deliverables, ExternalState,
    IterationBudget, KeywordSignal, PhaseCompletion, StepMachine, StructuredSignal,
};
use crate::definition::nested::{below, read_part, split_pointer, with_pointer};
use crate::port::{known_completions, read_custom};

/// A completion as a name and the object that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct CompletionParts {
    pub(crate) name: CompletionType,
    pub(crate) config: Option<Value>,
}

impl CompletionParts {
    /// Reads the completion; the object stands in the field `field`.
    pub(crate) fn read(self, field: &str) -> Result<Completion, String> {
        let is_there = self.config.is_some();
        let config = self.config.unwrap_or_else(|| Value::Object(Map::new()));
        let read = match self.name {
            CompletionType::StepMachine => read_part(config).map(Completion::StepMachine),
            CompletionType::IterationBudget => read_part(config).map(Completion::IterationBudget),
            CompletionType::CheckBudget => read_part(config).map(Completion::CheckBudget),
            CompletionType::KeywordSignal => read_part(config).map(Completion::KeywordSignal),
            CompletionType::StructuredSignal => read_part(config).map(Completion::StructuredSignal),
            CompletionType::PhaseCompletion => read_part(config).map(Completion::PhaseCompletion),
            CompletionType::ExternalState => read_part(config).map(Completion::ExternalState),
            CompletionType::Deliverables => read_part(config).map(Completion::Deliverables),
            CompletionType::Composite => read_part(config).map(Completion::Composite),
            CompletionType::Custom => read_custom(config).map(Completion::Custom),
        };
        read.map_err(|error| {
            let (pointer, message) = split_pointer(&error);
            match is_there {
                true => with_pointer(&format!("{}{pointer}", below("", field)), message),
                false => format!(
                    "`{}` needs an object in `{field}`: {message}",
                    self.name.name()
                ),
            }
        })
    }

    /// Takes `completion` apart.
    pub(crate) fn of(completion: &Completion) -> Self {
        let config = match completion {
            Completion::StepMachine(config) => written(config),
            Completion::IterationBudget(config) => written(config),
            Completion::CheckBudget(config) => written(config),
            Completion::KeywordSignal(config) => written(config),
            Completion::StructuredSignal(config) => written(config),
            Completion::PhaseCompletion(config) => written(config),
            Completion::ExternalState(config) => written(config),
            Completion::Deliverables(config) => written(config),
            Completion::Composite(config) => written(config),
            Completion::Custom(config) => written(config),
        };
        Self {
            name: completion.completion_type(),
            config,
        }
    }
}

/// Returns `config` as JSON; what is written of a definition can always be.
fn written(config: &impl Serialize) -> Option<Value> {
    let value = serde_json::to_value(config).ok()?;
    Some(value).filter(|value| value.as_object().is_none_or(|fields| !fields.is_empty()))
}

/// Adds to `schema`, that of an object, which names go with which objects.
pub(crate) fn completion_schema(
    schema: &mut Schema,
    generator: &mut SchemaGenerator,
    name_field: &str,
    config_field: &str,
) {
    let mut variants = Vec::new();
    for (name, config, is_required) in [
        of::<StepMachine>(CompletionType::StepMachine, generator, false),
        of::<IterationBudget>(CompletionType::IterationBudget, generator, true),
        of::<CheckBudget>(CompletionType::CheckBudget, generator, true),
        of::<KeywordSignal>(CompletionType::KeywordSignal, generator, true),
        of::<StructuredSignal>(CompletionType::StructuredSignal, generator, true),
        of::<PhaseCompletion>(CompletionType::PhaseCompletion, generator, true),
        of::<ExternalState>(CompletionType::ExternalState, generator, true),
        of::<Deliverables>(CompletionType::Deliverables, generator, false),
        of::<Composite>(CompletionType::Composite, generator, true),
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
        let required: &[&str] = match is_required {
            true => &[name_field, config_field],
            false => &[name_field],
        };
        variants.push(json!({
            "properties": {name_field: {"const": name.name()}, config_field: config},
            "required": required,
        }));
    }
    schema.insert("oneOf".to_owned(), Value::Array(variants));
}

fn of<T: JsonSchema>(
    name: CompletionType,
    generator: &mut SchemaGenerator,
    is_required: bool,
) -> (CompletionType, Schema, bool) {
    (name, generator.subschema_for::<T>(), is_required)
}
