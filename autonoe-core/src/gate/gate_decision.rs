//! [`GateDecision`], the decision of the gate about a tool call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Decision about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[must_use = "a decision has no effect unless the caller applies it"]
pub enum GateDecision {
    /// The call may run.
    Allow {
        /// The hook or the rule that allowed the call.
        by: String,
    },
    /// The call may not run.
    Deny {
        /// The guard or hook that blocked the call; `grants` if no grant permits it.
        by: String,
        /// Reason, worded for the agent.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl GateDecision {
    pub(super) fn deny(
        by: impl Into<String>,
        reason: impl Into<String>,
        remedy: Option<String>,
    ) -> Self {
        Self::Deny {
            by: by.into(),
            reason: reason.into(),
            remedy,
        }
    }

    /// Returns whether the call may run.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }
}
