//! Escalation of a step that has failed for good.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
