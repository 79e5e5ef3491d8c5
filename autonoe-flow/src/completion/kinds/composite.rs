//! [`Composite`]: any or all of several conditions hold.

use std::collections::BTreeSet;

use async_trait::async_trait;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Completion, CompletionType};
use crate::completion::dependencies::CompletionDependencies;
use crate::completion::kind::{CompletionKind, LastResult, Mistake, Needs, Unreachable};
use crate::completion::{CompletionParts, completion_schema};
use crate::definition::written_value;
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult, ConditionStates};
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
        let parts = self.conditions.iter().map(|condition| {
            Ok(Part {
                name: condition.name.clone(),
                handler: condition.completion.kind().build(needed)?,
            })
        });
        let parts: Result<Vec<Part>, FlowError> = parts.collect();
        Ok(Box::new(CompositeHandler::new(self.mode, parts?)))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut found = Vec::new();
        if self.conditions.is_empty() {
            let message = "the list of conditions is empty";
            let hint = "add one or more conditions";
            found.push(Mistake::new("/conditions", message, hint));
        }
        let mut names = BTreeSet::new();
        for (index, part) in self.conditions.iter().enumerate() {
            let at = format!("/conditions/{index}");
            if part.name.trim().is_empty() {
                let message = "the name of the condition is blank";
                let hint = "write a name, or remove it";
                found.push(Mistake::new(format!("{at}/name"), message, hint));
            } else if !names.insert(&part.name) {
                let message = format!("two conditions are named `{}`", part.name);
                let hint = "give each condition its own `name`, under which its state is reported";
                found.push(Mistake::new(at.clone(), message, hint));
            }
            let of_part = part.completion.kind().mistakes().into_iter();
            found.extend(of_part.map(|mistake| mistake.below(&format!("{at}/config"))));
        }
        found
    }

    fn formula(&self) -> Formula {
        let conditions = self.conditions.iter();
        let parts: Vec<Formula> = conditions
            .map(|condition| condition.completion.kind().formula())
            .collect();
        match (self.mode, parts.is_empty()) {
            // The definition is rejected for another reason.
            (_, true) => Formula::Free,
            (CompositeMode::Any, false) => Formula::Any(parts),
            (CompositeMode::All, false) => Formula::All(parts),
        }
    }

    fn unreachable(&self) -> Option<Unreachable> {
        // Each condition is reported by itself.
        None
    }

    fn needs(&self) -> Needs {
        let mut needs = Needs::default();
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
    last: LastResult,
}

struct Part {
    name: String,
    handler: Box<dyn CompletionHandler>,
}

impl CompositeHandler {
    fn new(mode: CompositeMode, parts: Vec<Part>) -> Self {
        Self {
            mode,
            parts,
            last: LastResult::default(),
        }
    }

    /// Returns the reason if all conditions hold.
    fn all(&self) -> Option<String> {
        let mut parts = self.parts.iter();
        let hold = !self.parts.is_empty() && parts.all(|part| part.handler.is_complete());
        hold.then(|| {
            let reasons: Vec<String> = self.parts.iter().map(Part::reason).collect();
            reasons.join("; ")
        })
    }
}

impl Part {
    fn reason(&self) -> String {
        format!("{}: {}", self.name, self.handler.reason())
    }
}

#[async_trait]
impl CompletionHandler for CompositeHandler {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.reset();
        let mut first = None;
        for part in &mut self.parts {
            part.handler.check(now).await?;
            if self.mode == CompositeMode::Any && part.handler.is_complete() {
                first = Some(part.reason());
                break;
            }
        }
        let reason = match self.mode {
            CompositeMode::Any => first,
            CompositeMode::All => self.all(),
        };
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }

    fn condition_states(&self) -> ConditionStates {
        let mut states = ConditionStates::new();
        for Part { name, handler } in &self.parts {
            states.insert(name.clone(), handler.is_complete());
            for (inner, holds) in handler.condition_states() {
                states.insert(format!("{name}/{inner}"), holds);
            }
        }
        states
    }
}
