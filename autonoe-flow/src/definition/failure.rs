//! Retries ([`StepRetryPolicy`]) and escalation ([`StepEscalation`]) of a failed step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::StepId;

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
