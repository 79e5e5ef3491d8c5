//! Types of the definition files of a flow.

mod agent;
mod check;
mod data_test;
mod names;
mod prompt_ref;
mod step;
mod transition;

use std::collections::BTreeMap;

use autonoe_core::tool::plain_schema;
use serde::Deserialize;
use serde_json::Value;

pub use crate::completion::kinds::*;
pub use agent::{
    Behavior, FlowAgent, ParameterDefinition, ParameterRules, ParameterType, PermissionMode,
    PromptPaths,
};
pub(crate) use check::ten_minutes;
pub use check::{
    ActionCheck, ActionOutcome, Check, CommandAction, ExpectedAction, KeywordCheck, KeywordMode,
    PromptCheck, ToolAction,
};
pub use data_test::{DataPath, DataQuestion, DataTest};
pub(crate) use names::quoted;
pub use names::{FlowName, InvalidName, StepId, VariableName};
pub use prompt_ref::{FlowPath, PathRef, PromptRef, SchemePart, SchemeRef};
pub use step::{
    AfterFailure, DEFAULT_MAX_VISITS, DEFAULT_STEP_LOOP_LIMIT, FromData, Gateway, GatewayBranch,
    Sequential, Step, StepLimits, StepPlan, StepsRegistry, VariableValue, WorkStep,
};
pub use transition::{
    Backoff, DEFAULT_MAX_RETRIES, NotificationMethod, OnExhausted, OnFail, OnPass, ReturnFlow,
    StepEscalation, StepRetryPolicy, Target, Transition,
};

/// Returns the JSON Schemas of `agent.json` and `steps_registry.json`, by name.
///
/// ```
/// let schemas = autonoe_flow::schemas();
///
/// assert_eq!(schemas["flow.agent"]["properties"]["name"]["$ref"], "#/$defs/FlowName");
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    BTreeMap::from([
        (
            "flow.agent".to_owned(),
            plain_schema::<FlowAgent>().to_value(),
        ),
        (
            "flow.steps-registry".to_owned(),
            plain_schema::<StepsRegistry>().to_value(),
        ),
    ])
}

/// Reads a field that may be `null`, which differs from a missing field.
pub(crate) fn written_value<'de, D>(from: D) -> Result<Option<Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Value::deserialize(from).map(Some)
}

/// Implements `Deserialize` for an enum whose field `type` names the variant. Each variant holds
/// one struct.
macro_rules! read_by_type {
    ($enum:ident, $default:expr, { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use autonoe_core::project::config_parts::{read_part, take_tag};
                use serde::de::Error;
                let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(from)?;
                let name = take_tag(&mut fields, "type", $default).map_err(D::Error::custom)?;
                let rest = serde_json::Value::Object(fields);
                match name.as_str() {
                    $($name => read_part(&rest).map(Self::$variant),)+
                    _ => {
                        let known = [$(concat!("`", $name, "`")),+].join(", ");
                        Err(format!("/type: unknown name `{name}`; known are {known}"))
                    }
                }
                .map_err(D::Error::custom)
            }
        }
    };
}
pub(crate) use read_by_type;
