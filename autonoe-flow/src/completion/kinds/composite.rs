//! [`Composite`]: any or all of several conditions hold.

use std::collections::BTreeSet;

use async_trait::async_trait;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Completion, CompletionKind, CompletionNeeds, CompletionParts, CompletionType, Mistake,
    Unreachable, completion_schema,
};
use crate::completion::{
    CompletionContext, CompletionDependencies, CompletionHandler, CompletionResult, ConditionStates,
};
use crate::definition::written_value;
use crate::error::FlowError;
use crate::walk::Formula;

/// Several conditions, of which one or all must hold.
///
/// The conditions are checked in their order. With `any`, conditions after the first one that
/// holds are not checked.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Composite {
    /// Whether one or all of the conditions must hold.
    pub mode: CompositeMode,
    /// The conditions.
    pub conditions: Vec<CompletionCondition>,
}

impl CompletionKind for Composite {
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError> {
        let build = |condition: &CompletionCondition| {
            Ok(Part {
                name: condition.name.clone(),
                handler: condition.completion.kind().build(needed)?,
                holds: false,
            })
        };
        let parts: Result<_, FlowError> = self.conditions.iter().map(build).collect();
        Ok(Box::new(CompositeHandler {
            mode: self.mode,
            parts: parts?,
        }))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        if self.conditions.is_empty() {
            let message = "the list of conditions is empty";
            let hint = "add one or more conditions";
            mistakes.push(Mistake::new("/conditions", message, hint));
        }
        let mut names = BTreeSet::new();
        for (index, part) in self.conditions.iter().enumerate() {
            let at = format!("/conditions/{index}");
            if part.name.trim().is_empty() {
                let message = "the name of the condition is blank";
                let hint = "write a name, or remove it";
                mistakes.push(Mistake::new(format!("{at}/name"), message, hint));
            } else if !names.insert(&part.name) {
                let message = format!("two conditions are named `{}`", part.name);
                let hint = "give each condition its own `name`, under which its state is reported";
                mistakes.push(Mistake::new(at.clone(), message, hint));
            }
            let inner = part.completion.kind().mistakes().into_iter();
            mistakes.extend(inner.map(|mistake| mistake.below(&format!("{at}/config"))));
        }
        mistakes
    }

    fn formula(&self) -> Formula {
        let conditions = self.conditions.iter();
        let parts = conditions
            .map(|condition| condition.completion.kind().formula())
            .collect();
        match self.mode {
            // The definition is rejected for another reason.
            _ if self.conditions.is_empty() => Formula::Free,
            CompositeMode::Any => Formula::Any(parts),
            CompositeMode::All => Formula::All(parts),
        }
    }

    fn unreachable(&self) -> Option<Unreachable> {
        // Each condition is reported by itself.
        None
    }

    fn needs(&self) -> CompletionNeeds {
        let mut needs = CompletionNeeds::default();
        for condition in &self.conditions {
            needs.merge(condition.completion.kind().needs());
        }
        needs
    }
}

/// Number of conditions that must hold: any or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompositeMode {
    /// One is enough.
    Any,
    /// All of them.
    All,
}

/// One of several conditions.
///
/// ```
/// use autonoe_flow::definition::CompletionCondition;
///
/// let condition: CompletionCondition = serde_json::from_str(
///     r#"{"name": "budget", "type": "iterationBudget", "config": {"maxIterations": 5}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenCondition")]
pub struct CompletionCondition {
    /// The name under which its state is reported.
    pub name: String,
    /// The condition.
    pub completion: Completion,
}

/// A condition as it is written in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CompletionCondition")]
struct WrittenCondition {
    /// The name under which its state is reported. By default it is the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The type of the condition.
    #[serde(rename = "type")]
    completion_type: CompletionType,
    /// The settings of the condition.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    config: Option<Value>,
}

impl TryFrom<WrittenCondition> for CompletionCondition {
    type Error = String;

    fn try_from(written: WrittenCondition) -> Result<Self, String> {
        let name = written.completion_type;
        let config = written.config;
        Ok(Self {
            name: written.name.unwrap_or_else(|| name.name().to_owned()),
            completion: CompletionParts { name, config }.read("config")?,
        })
    }
}

impl Serialize for CompletionCondition {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let parts = CompletionParts::from_completion(&self.completion);
        WrittenCondition {
            name: Some(self.name.clone()),
            completion_type: parts.name,
            config: parts.config,
        }
        .serialize(to)
    }
}

impl JsonSchema for CompletionCondition {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CompletionCondition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenCondition::json_schema(generator);
        completion_schema(&mut schema, generator, "type", "config");
        schema
    }
}

/// Several conditions, checked in order.
///
/// With `any`, conditions after the first that holds are not checked and keep their previous state.
/// With `all`, every condition is checked, so that the state of each is known. A condition that
/// fails ends the check with its error.
struct CompositeHandler {
    mode: CompositeMode,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    handler: Box<dyn CompletionHandler>,
    /// The last result.
    holds: bool,
}

#[async_trait]
impl CompletionHandler for CompositeHandler {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let mut reasons = Vec::new();
        for part in &mut self.parts {
            part.holds = false;
            if let CompletionResult::Complete { reason } = part.handler.check(now).await? {
                part.holds = true;
                reasons.push(format!("{}: {reason}", part.name));
                if self.mode == CompositeMode::Any {
                    break;
                }
            }
        }
        let least = match self.mode {
            CompositeMode::Any => 1,
            CompositeMode::All => self.parts.len().max(1),
        };
        let reason = (reasons.len() >= least).then(|| reasons.join("; "));
        Ok(reason.into())
    }

    fn condition_states(&self) -> ConditionStates {
        let mut states = ConditionStates::new();
        for part in &self.parts {
            states.insert(part.name.clone(), part.holds);
            for (inner, holds) in part.handler.condition_states() {
                states.insert(format!("{}/{inner}", part.name), holds);
            }
        }
        states
    }
}
