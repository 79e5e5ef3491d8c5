//! Who is told when a step failed for good, and how the flow goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who is told when a step failed for good, and how the flow goes on then.
///
/// A step is escalated when it failed, is not tried again, and its failure
/// would end the flow with an error.
///
/// ```
/// use autonoe_flow::{Escalation, NotificationMethod, ReturnFlow};
///
/// let escalation: Escalation = serde_json::from_str(r#"{"escalateTo": "ask-the-lead"}"#)?;
///
/// assert_eq!(escalation.notification_method, NotificationMethod::InAgent);
/// assert_eq!(escalation.return_flow, ReturnFlow::Resume);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Escalation {
    /// The id of a step for `in_agent`, an address for `webhook`, a name for `log`.
    pub escalate_to: String,
    /// How it is told.
    #[serde(default)]
    pub notification_method: NotificationMethod,
    /// How the flow goes on then.
    #[serde(default)]
    pub return_flow: ReturnFlow,
    /// The name of the key that signs what a webhook is told. The key itself is given at the start of a run, never here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
}

/// How an escalation is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationMethod {
    /// Another step is run.
    #[default]
    InAgent,
    /// An HTTP service is told.
    Webhook,
    /// It is logged, and nothing else.
    Log,
}

/// How a flow goes on after an escalation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReturnFlow {
    /// The step that failed is visited again.
    #[default]
    Resume,
    /// The flow ends with the error of the step.
    Abort,
    /// The flow starts again at its entry.
    Restart,
}
