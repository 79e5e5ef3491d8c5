//! A condition of the embedder's own.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use autonoe_core::{SpecContext, SpecError, SpecPort, registered_specs};
use serde_json::Value;

use crate::definition::StepId;
use crate::error::FlowError;
use crate::progress::FlowProgress;

/// The port under which conditions register themselves.
pub const COMPLETION_PORT: SpecPort = SpecPort::Other("completion");

/// Describes a completion condition in a definition, and builds it.
///
/// An implementer is a plain serialisable struct; its tag reads `crate-thing`.
/// [`autonoe_core::register_spec!`] with the port `Other("completion")` lists it.
///
/// ```
/// use autonoe_core::{SpecContext, SpecError};
/// use autonoe_flow::{
///     Behavior, Completion, CompletionContext, CompletionHandler, CompletionResult,
///     CompletionSpec, FlowError,
/// };
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Holds from the third iteration on.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Third {}
///
/// #[typetag::serde(name = "docs-third")]
/// impl CompletionSpec for Third {
///     fn build(&self, _: &SpecContext) -> Result<Box<dyn CompletionHandler>, SpecError> {
///         Ok(Box::new(Iterations(0)))
///     }
/// }
/// autonoe_core::register_spec!(Other("completion"), Third, "docs-third", {});
///
/// struct Iterations(u64);
///
/// #[async_trait::async_trait]
/// impl CompletionHandler for Iterations {
///     async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
///         self.0 = now.iteration;
///         Ok(self.result())
///     }
///     fn is_complete(&self) -> bool {
///         self.0 >= 3
///     }
///     fn reason(&self) -> &str {
///         "there were three iterations"
///     }
/// }
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "custom", "completionConfig": {"type": "docs-third"}}"#,
/// )?;
/// assert!(matches!(behavior.completion, Completion::Custom(_)));
/// # Ok(())
/// # }
/// ```
#[typetag::serde(tag = "type")]
pub trait CompletionSpec: fmt::Debug + Send + Sync {
    /// Builds the condition.
    fn build(&self, context: &SpecContext) -> Result<Box<dyn CompletionHandler>, SpecError>;
}

/// Tells whether a flow is complete.
///
/// [`check`](Self::check) looks anew and keeps what it found; the others tell
/// what was found last, and change nothing.
#[async_trait]
pub trait CompletionHandler: Send {
    /// Looks whether the flow is complete. It is called after an iteration, never before the first.
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError>;

    /// Tells whether the last check found the flow complete; `false` before the first.
    fn is_complete(&self) -> bool;

    /// Says why the flow is complete. It is not empty while [`is_complete`](Self::is_complete) holds.
    fn reason(&self) -> &str;

    /// Returns what the last check found of each part, by name; empty if there are no parts.
    fn condition_states(&self) -> ConditionStates {
        ConditionStates::new()
    }

    /// Returns what the last check found.
    fn result(&self) -> CompletionResult {
        match self.is_complete() {
            true => CompletionResult::Complete {
                reason: self.reason().to_owned(),
            },
            false => CompletionResult::Incomplete,
        }
    }
}

/// Whether each of several conditions holds, by name.
///
/// The parts of a part stand under `part/name`.
pub type ConditionStates = BTreeMap<String, bool>;

/// What a condition found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionResult {
    /// The flow is complete.
    Complete {
        /// Why, in words for people.
        reason: String,
    },
    /// The flow goes on.
    Incomplete,
}

/// What a condition may look at.
///
/// ```
/// use autonoe_flow::{CompletionContext, FlowProgress};
///
/// let step = "draft".parse()?;
/// let mut progress = FlowProgress::default();
/// assert!(CompletionContext::new(&step, &progress).is_none());
///
/// progress.note_iteration();
/// let now = CompletionContext::new(&step, &progress).expect("there was an iteration");
/// assert_eq!(now.with_text("DONE").iteration, 1);
/// # Ok::<(), autonoe_flow::InvalidName>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CompletionContext<'a> {
    /// How many iterations there were, from 1.
    pub iteration: u64,
    /// The step that was run last.
    pub step: &'a StepId,
    /// What the flow has reached so far.
    pub progress: &'a FlowProgress,
    /// The text parts of the last answer; empty if none came.
    pub text: &'a str,
    /// The data of the flow.
    pub data: &'a Value,
}

/// What is looked at where no data is given.
static NO_DATA: Value = Value::Null;

impl<'a> CompletionContext<'a> {
    /// Makes what a condition may look at, without a text and without data.
    ///
    /// Before the first iteration there is nothing to ask, and it returns `None`.
    pub fn new(step: &'a StepId, progress: &'a FlowProgress) -> Option<Self> {
        (progress.iterations > 0).then_some(Self {
            iteration: progress.iterations,
            step,
            progress,
            text: "",
            data: &NO_DATA,
        })
    }

    /// Adds the text parts of the last answer.
    #[must_use]
    pub fn with_text(mut self, text: &'a str) -> Self {
        self.text = text;
        self
    }

    /// Adds the data of the flow.
    #[must_use]
    pub fn with_data(mut self, data: &'a Value) -> Self {
        self.data = data;
        self
    }
}

/// Returns the tags of the conditions that this program knows.
pub(crate) fn known_completions() -> Vec<&'static str> {
    let specs = registered_specs(COMPLETION_PORT);
    specs.into_iter().map(|spec| spec.tag).collect()
}

/// Reads a condition of the embedder's own.
pub(crate) fn read_custom(config: Value) -> Result<Box<dyn CompletionSpec>, String> {
    let known = known_completions();
    let listed = match known.is_empty() {
        true => "none is registered in this program".to_owned(),
        false => format!("known are `{}`", known.join("`, `")),
    };
    match config.get("type") {
        Some(Value::String(tag)) if known.contains(&tag.as_str()) => {
            serde_json::from_value(config).map_err(|error| autonoe_core::json_complaint(&error))
        }
        Some(Value::String(tag)) => Err(format!("/type: unknown condition `{tag}`; {listed}")),
        Some(_) => Err("/type: expected a string".to_owned()),
        None => Err(format!("the field `type` is missing; {listed}")),
    }
}
