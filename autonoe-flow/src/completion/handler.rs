//! [`CompletionSpec`] and [`CompletionHandler`]: custom completion conditions.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use autonoe_core::spec::{SpecContext, SpecError, SpecPort, registered_specs};
use serde_json::Value;

use crate::definition::StepId;
use crate::error::FlowError;
use crate::progress::FlowProgress;

/// The port under which conditions are registered.
pub const COMPLETION_PORT: SpecPort = SpecPort::Other("completion");

/// Describes a completion condition in a definition, and builds it.
///
/// Implementations are plain serializable structs; the tag has the form `crate-thing`.
/// [`autonoe_core::register_spec!`] with the port `Other("completion")` registers them.
///
/// ```
/// use autonoe_core::spec::{SpecContext, SpecError};
/// use autonoe_flow::definition::{Behavior, Completion};
/// use autonoe_flow::completion::{CompletionContext, CompletionResult};
/// use autonoe_flow::{CompletionHandler, CompletionSpec, FlowError};
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
///         Ok(Box::new(ThirdIteration))
///     }
/// }
/// autonoe_core::register_spec!(Other("completion"), Third, "docs-third", {});
///
/// struct ThirdIteration;
///
/// #[async_trait::async_trait]
/// impl CompletionHandler for ThirdIteration {
///     async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
///         let reason = (now.iteration >= 3).then(|| "there were three iterations".to_owned());
///         Ok(reason.into())
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

/// Decides whether a flow is complete.
#[async_trait]
pub trait CompletionHandler: Send {
    /// Checks whether the flow is complete. It is called after an iteration, never before the
    /// first.
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError>;

    /// Returns the last result of each part, by name; empty if there are no parts.
    fn condition_states(&self) -> ConditionStates {
        ConditionStates::new()
    }
}

/// Whether each of several conditions holds, by name.
///
/// Nested parts have the key `part/name`.
pub type ConditionStates = BTreeMap<String, bool>;

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionResult {
    /// The flow is complete.
    Complete {
        /// The reason, for people.
        reason: String,
    },
    /// The flow continues.
    Incomplete,
}

impl From<Option<String>> for CompletionResult {
    /// Converts the reason why the flow is complete, or `None` if it continues.
    fn from(reason: Option<String>) -> Self {
        match reason {
            Some(reason) => Self::Complete { reason },
            None => Self::Incomplete,
        }
    }
}

/// Input of a completion condition.
///
/// ```
/// use autonoe_flow::completion::CompletionContext;
/// use autonoe_flow::progress::FlowProgress;
///
/// let step = "draft".parse()?;
/// let mut progress = FlowProgress::default();
/// assert!(CompletionContext::new(&step, &progress).is_none());
///
/// progress.iterations = 1;
/// let mut now = CompletionContext::new(&step, &progress).expect("there was an iteration");
/// now.text = "DONE";
/// assert_eq!(now.iteration, 1);
/// # Ok::<(), autonoe_flow::definition::InvalidName>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CompletionContext<'a> {
    /// The number of iterations so far, at least 1.
    pub iteration: u64,
    /// The last step that ran.
    pub step: &'a StepId,
    /// The progress of the flow.
    pub progress: &'a FlowProgress,
    /// The text parts of the last answer; empty if there was none.
    pub text: &'a str,
    /// The data of the flow; `null` by default.
    pub data: &'a Value,
}

impl<'a> CompletionContext<'a> {
    /// Creates a context without text and data.
    ///
    /// Returns `None` before the first iteration, when there is nothing to check.
    pub fn new(step: &'a StepId, progress: &'a FlowProgress) -> Option<Self> {
        (progress.iterations > 0).then_some(Self {
            iteration: progress.iterations,
            step,
            progress,
            text: "",
            data: &Value::Null,
        })
    }
}

/// Returns the tags of the registered conditions.
pub(crate) fn known_completions() -> Vec<&'static str> {
    let specs = registered_specs(COMPLETION_PORT);
    specs.into_iter().map(|spec| spec.tag).collect()
}

/// Parses a custom condition.
pub(crate) fn read_custom(config: &Value) -> Result<Box<dyn CompletionSpec>, String> {
    autonoe_core::project::config_parts::read_spec(COMPLETION_PORT, config)
}
