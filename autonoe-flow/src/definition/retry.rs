//! How often a step is tried again, and what comes then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::StepId;

/// How often a step that failed is tried again, if nobody says a number.
pub const DEFAULT_MAX_RETRIES: u32 = 3;

/// How often a step that failed is tried again, and what comes then.
///
/// ```
/// use autonoe_flow::RetryPolicy;
///
/// let policy: RetryPolicy = serde_json::from_str("{}")?;
///
/// assert_eq!(policy.max_retries, 3);
/// assert_eq!(policy.on_exhausted, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// How often the step is tried again.
    pub max_retries: u32,
    /// What comes when it failed once more; the fallback if one is named, else an error, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exhausted: Option<OnExhausted>,
    /// The step to go to; `onExhausted: "fallback"` needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step: Option<StepId>,
    /// How long to wait before a new try after an error of the backend.
    pub backoff: Backoff,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: DEFAULT_MAX_RETRIES,
            on_exhausted: None,
            fallback_step: None,
            backoff: Backoff::default(),
        }
    }
}

/// What comes when a step failed and is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnExhausted {
    /// The flow ends with an error, after an escalation if there is one.
    Error,
    /// The flow goes to the fallback step.
    Fallback,
    /// The flow goes on as if the step had passed.
    Skip,
}

/// How long to wait before a step is tried again after an error of the backend.
///
/// The wait doubles each time. A check that did not pass is no such error: the
/// step is tried again at once.
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
