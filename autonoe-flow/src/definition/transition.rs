//! Transitions of steps: [`Transition`], [`OnPass`], [`OnFail`] and [`Target`]; retries
//! ([`StepRetryPolicy`]) and escalation ([`StepEscalation`]) of a failed step.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::names::{InvalidName, StepId};

/// The next step after a pass, and the action after a failure.
///
/// ```
/// use autonoe_flow::definition::Transition;
///
/// let transition: Transition =
///     serde_json::from_str(r#"{"next": "review", "retry": true, "fallback": "repair"}"#)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transition {
    /// The next step after a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The next step after a failure without further retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether a failed step is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// The maximum number of retries; 3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl Transition {
    /// Creates a transition to `next` after a pass.
    pub fn to(next: Target) -> Self {
        Self {
            next: Some(next),
            ..Self::default()
        }
    }
}

/// The action when the check of a step passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnPass {
    /// The next step.
    pub next: Option<Target>,
}

/// The action when the check of a step did not pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnFail {
    /// The next step when there are no further retries; excludes `fallback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Target>,
    /// The next step when there are no further retries; excludes `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<StepId>,
    /// Whether the step is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// The maximum number of retries; 3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

/// The next position of a flow: a step, or the end.
///
/// In a file it is the ID of a step, or the word `end`.
///
/// ```
/// use autonoe_flow::definition::Target;
///
/// assert_eq!(serde_json::from_str::<Target>(r#""end""#)?, Target::End);
/// assert_eq!(serde_json::from_str::<Target>(r#""draft""#)?.to_string(), "draft");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// A step.
    Step(StepId),
    /// The end of the flow.
    End,
}

impl Target {
    /// The name of the end of a flow. No step may have it as its ID.
    pub const END: &'static str = "end";

    /// Returns the step, or `None` for the end.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::Step(id) => Some(id),
            Self::End => None,
        }
    }
}

impl TryFrom<String> for Target {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        match text.as_str() {
            Self::END => Ok(Self::End),
            id => id.parse().map(Self::Step),
        }
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

impl From<StepId> for Target {
    fn from(id: StepId) -> Self {
        Self::Step(id)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Step(id) => id.as_str(),
            Self::End => Self::END,
        })
    }
}

impl JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StepId::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "The id of a step, or `end` for the end of the flow.".into(),
        );
        schema
    }
}

/// Default number of retries of a failed step.
pub const DEFAULT_MAX_RETRIES: u32 = 3;

/// The number of retries of a failed step, and the action after the last one.
///
/// ```
/// use autonoe_flow::definition::StepRetryPolicy;
///
/// let policy: StepRetryPolicy = serde_json::from_str("{}")?;
///
/// assert_eq!(policy.max_retries, 3);
/// assert_eq!(policy.on_exhausted, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StepRetryPolicy {
    /// The maximum number of retries.
    pub max_retries: u32,
    /// The action after the last retry. The default is the fallback step, if set, else an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exhausted: Option<OnExhausted>,
    /// The step to continue with; required for `onExhausted: "fallback"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step: Option<StepId>,
    /// The wait before a retry after an error of the backend.
    pub backoff: Backoff,
}

impl Default for StepRetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: DEFAULT_MAX_RETRIES,
            on_exhausted: None,
            fallback_step: None,
            backoff: Backoff::default(),
        }
    }
}

/// The action after a failure without further retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnExhausted {
    /// The flow ends with an error, after an escalation if there is one.
    Error,
    /// The flow continues with the fallback step.
    Fallback,
    /// The flow continues as if the step had passed.
    Skip,
}

/// The wait before a retry after an error of the backend.
///
/// The wait doubles each time. After a check that did not pass, the step is retried
/// immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Backoff {
    /// The first wait, in milliseconds.
    pub initial_ms: u64,
    /// The longest wait, in milliseconds.
    pub max_ms: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial_ms: 1_000,
            max_ms: 30_000,
        }
    }
}

/// The notification about a step that failed without further retries, and how the flow continues.
///
/// A step is escalated when it has failed, is not retried, and its failure
/// would end the flow with an error.
///
/// ```
/// use autonoe_flow::definition::{NotificationMethod, ReturnFlow, StepEscalation};
///
/// let escalation: StepEscalation = serde_json::from_str(r#"{"escalateTo": "ask-the-lead"}"#)?;
///
/// assert_eq!(escalation.notification_method, NotificationMethod::InAgent);
/// assert_eq!(escalation.return_flow, ReturnFlow::Resume);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepEscalation {
    /// The id of a step for `in_agent`, an address for `webhook`, a name for `log`.
    pub escalate_to: String,
    /// The method of notification.
    #[serde(default)]
    pub notification_method: NotificationMethod,
    /// Continuation of the flow after the escalation.
    #[serde(default)]
    pub return_flow: ReturnFlow,
    /// The name of the key that signs notifications of a webhook. The key itself is not in this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
}

/// The methods of notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationMethod {
    /// Another step runs.
    #[default]
    InAgent,
    /// An HTTP service receives a request.
    Webhook,
    /// A log message is written.
    Log,
}

/// Continuation of a flow after an escalation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReturnFlow {
    /// The failed step is visited again.
    #[default]
    Resume,
    /// The flow ends with the error of the step.
    Abort,
    /// The flow restarts at its entry step.
    Restart,
}
