//! [`Completion`], the table of its kinds, and its form in files.

mod budgets;
mod composite;
mod deliverables;
mod external_state;
mod signals;
mod steps;

use std::collections::BTreeSet;

use async_trait::async_trait;
use autonoe_core::project::config_parts::{below, inside, read_part};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use self::budgets::{CheckBudget, IterationBudget};
pub use self::composite::{CompletionCondition, Composite, CompositeMode};
pub use self::deliverables::Deliverables;
pub use self::external_state::{ExternalState, ExternalStateSource, NamedState, StateCommand};
pub use self::signals::{KeywordSignal, StructuredSignal};
pub use self::steps::{PhaseCompletion, StepMachine};

use super::dependencies::{CompletionDependencies, unresolved};
use super::handler::{
    CompletionContext, CompletionHandler, CompletionResult, CompletionSpec, known_completions,
    read_custom,
};
use crate::error::FlowError;
use crate::progress::FlowProgress;
use crate::walk::Formula;

/// Defines the kinds in one table: variant and struct, name in files, need of settings.
macro_rules! completion_kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $need:ident;)+) => {
        /// The completion condition of a flow.
        ///
        /// It is checked after each iteration whose step checks are done, and when the steps reach
        /// their end. A flow whose steps reach their end while it is not complete has failed.
        #[derive(Debug)]
        pub enum Completion {
            $($(#[$doc])* $kind($kind),)+
            /// A custom condition of the embedding program.
            Custom(Box<dyn CompletionSpec>),
        }

        /// The types of completion conditions.
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "camelCase")]
        pub enum CompletionType {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)+
            /// A custom condition of the embedding program.
            Custom,
        }

        impl Completion {
            /// Returns the type of the condition.
            pub fn completion_type(&self) -> CompletionType {
                match self {
                    $(Self::$kind(_) => CompletionType::$kind,)+
                    Self::Custom(_) => CompletionType::Custom,
                }
            }

            /// Returns what its kind decides.
            pub(crate) fn kind(&self) -> &dyn CompletionKind {
                match self {
                    $(Self::$kind(config) => config,)+
                    Self::Custom(spec) => spec,
                }
            }

            /// Reads the settings of a condition.
            fn read(name: CompletionType, config: &Value) -> Result<Self, String> {
                match name {
                    $(CompletionType::$kind => read_part(config).map(Self::$kind),)+
                    CompletionType::Custom => read_custom(config).map(Self::Custom),
                }
            }

            /// Returns the settings as JSON; `None` if there are none.
            fn config(&self) -> Option<Value> {
                match self {
                    $(Self::$kind(config) => to_config(config),)+
                    Self::Custom(spec) => to_config(spec),
                }
            }
        }

        impl CompletionType {
            /// Returns the name of the type in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                    Self::Custom => "custom",
                }
            }

            /// Returns the types with the schemas of their settings.
            fn schemas(generator: &mut SchemaGenerator) -> Vec<(Self, Schema, Need)> {
                let custom = json_schema!({
                    "type": "object",
                    "properties": {"type": {"type": "string", "examples": known_completions()}},
                    "required": ["type"],
                });
                vec![
                    $((Self::$kind, generator.subschema_for::<$kind>(), Need::$need),)+
                    (Self::Custom, custom, Need::Required),
                ]
            }
        }
    };
}

completion_kinds! {
    /// The flow reached the end of its steps.
    StepMachine, "stepMachine", Optional;
    /// A number of iterations is reached.
    IterationBudget, "iterationBudget", Required;
    /// A number of step checks is reached.
    CheckBudget, "checkBudget", Required;
    /// The agent's text contains a keyword.
    KeywordSignal, "keywordSignal", Required;
    /// The agent has sent a structured signal.
    StructuredSignal, "structuredSignal", Required;
    /// A step of a terminal phase has passed.
    PhaseCompletion, "phaseCompletion", Required;
    /// An external state is reached.
    ExternalState, "externalState", Required;
    /// The deliverables of the ledger have passed.
    Deliverables, "deliverables", Optional;
    /// One or all of several conditions hold.
    Composite, "composite", Required;
}

impl Completion {
    /// Returns what the condition and its parts need.
    pub fn needs(&self) -> CompletionNeeds {
        self.kind().needs()
    }
}

/// A kind of completion condition.
///
/// No function has a default: each kind decides about each of them.
pub(crate) trait CompletionKind {
    /// Builds the handler that decides whether the condition holds.
    ///
    /// # Errors
    ///
    /// A dependency is missing. The message names it.
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError>;

    /// Returns the mistakes in its settings.
    fn mistakes(&self) -> Vec<Mistake>;

    /// Returns the condition as far as the graph determines it.
    fn formula(&self) -> Formula;

    /// Describes that no path reaches the condition; `None` if this is not reported.
    fn unreachable(&self) -> Option<Unreachable>;

    /// Returns what it needs from the flow and the project.
    fn needs(&self) -> CompletionNeeds;
}

/// A mistake in the settings of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The place, as a JSON pointer into the settings.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl Mistake {
    pub(crate) fn new(
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            hint,
        }
    }

    /// Returns the mistake with `at` in front of its pointer.
    pub(crate) fn below(mut self, at: &str) -> Self {
        self.pointer.insert_str(0, at);
        self
    }
}

/// A condition that no path through the steps reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The parts of the flow and the project that completion conditions need.
///
/// ```
/// use autonoe_flow::definition::Behavior;
///
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "keywordSignal", "completionConfig": {"keywords": ["DONE"]}}"#,
/// )?;
///
/// let needs = behavior.completion.needs();
///
/// assert!(needs.keywords.contains("DONE") && !needs.reads_ledger);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionNeeds {
    /// Whether a condition reads the ledger.
    pub reads_ledger: bool,
    /// Whether a condition runs a command.
    pub runs_command: bool,
    /// The awaited keywords.
    pub keywords: BTreeSet<String>,
    /// The awaited signals, without duplicates. If there are none, agents have no tool `signal`.
    pub signals: Vec<StructuredSignal>,
}

impl CompletionNeeds {
    /// Adds the needs of another condition.
    fn merge(&mut self, other: Self) {
        self.reads_ledger |= other.reads_ledger;
        self.runs_command |= other.runs_command;
        self.keywords.extend(other.keywords);
        for signal in other.signals {
            if !self.signals.contains(&signal) {
                self.signals.push(signal);
            }
        }
    }
}

/// Decides whether a condition holds. Returns the reason, or `None` while it does not hold.
trait Rule: Send + Sync {
    fn reason(&self, progress: &FlowProgress) -> Option<String>;
}

/// A condition that follows a [`Rule`].
#[derive(Debug)]
struct RuleHandler<R>(R);

#[async_trait]
impl<R: Rule> CompletionHandler for RuleHandler<R> {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        Ok(self.0.reason(now.progress).into())
    }
}

impl CompletionKind for Box<dyn CompletionSpec> {
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError> {
        let spec: &dyn CompletionSpec = &**self;
        spec.build(&needed.specs).map_err(|error| {
            unresolved("the custom condition could not be built").with_cause(error)
        })
    }

    fn mistakes(&self) -> Vec<Mistake> {
        // It checks itself when it is built.
        Vec::new()
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds::default()
    }
}

/// Whether files must have the settings of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
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
