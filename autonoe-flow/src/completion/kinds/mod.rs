//! [`Completion`] and the table of its kinds.

mod budgets;
mod composite;
mod deliverables;
mod external_state;
mod signals;
mod steps;

use autonoe_core::project::config_parts::read_part;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dependencies::{CompletionDependencies, unresolved};
use super::kind::{CompletionKind, Mistake, Needs, Unreachable};
use super::parts::{Need, to_config};
use crate::error::FlowError;
use crate::port::{CompletionHandler, CompletionSpec, known_completions, read_custom};
use crate::walk::Formula;

pub use self::budgets::{CheckBudget, IterationBudget};
pub use self::composite::{CompletionCondition, Composite, CompositeMode};
pub use self::deliverables::Deliverables;
pub use self::external_state::{ExternalState, ExternalStateSource, NamedState, StateCommand};
pub use self::signals::{KeywordSignal, StructuredSignal};
pub use self::steps::{PhaseCompletion, StepMachine};

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
            pub(super) fn read(name: CompletionType, config: &Value) -> Result<Self, String> {
                match name {
                    $(CompletionType::$kind => read_part(config).map(Self::$kind),)+
                    CompletionType::Custom => read_custom(config).map(Self::Custom),
                }
            }

            /// Returns the settings as JSON; `None` if there are none.
            pub(super) fn config(&self) -> Option<Value> {
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
            pub(super) fn schemas(generator: &mut SchemaGenerator) -> Vec<(Self, Schema, Need)> {
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
    /// Returns whether the condition, or a part of it, reads the ledger.
    pub fn reads_ledger(&self) -> bool {
        self.kind().needs().reads_ledger
    }

    /// Returns whether the condition, or a part of it, runs a command.
    pub fn runs_command(&self) -> bool {
        self.kind().needs().runs_command
    }
}

impl CompletionKind for Box<dyn CompletionSpec> {
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError> {
        let spec: &dyn CompletionSpec = &**self;
        spec.build(&needed.specs)
            .map_err(|error| unresolved("the custom condition could not be built").because(error))
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

    fn needs(&self) -> Needs {
        Needs::default()
    }
}
