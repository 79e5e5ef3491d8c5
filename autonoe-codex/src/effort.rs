//! [`Effort`]: reasoning effort of a model.

use autonoe_core::agent::ThinkingBudget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reasoning effort of a model.
///
/// ```
/// use autonoe_codex::Effort;
/// use autonoe_core::agent::ThinkingBudget;
///
/// // The program does not accept a number of tokens.
/// assert_eq!(Effort::from(ThinkingBudget::default()), Effort::Medium);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Minimal effort, if the model supports it.
    Minimal,
    /// Low effort.
    Low,
    /// The usual effort.
    Medium,
    /// High effort.
    High,
    /// Maximum effort, if the model supports it.
    XHigh,
}

impl Effort {
    /// Returns its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

impl From<ThinkingBudget> for Effort {
    fn from(budget: ThinkingBudget) -> Self {
        match budget.tokens() {
            ..4096 => Self::Low,
            4096..16_384 => Self::Medium,
            _ => Self::High,
        }
    }
}
