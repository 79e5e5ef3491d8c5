//! How a scripted turn ends.

use serde::{Deserialize, Serialize};

/// How a scripted turn ends: its `result`.
///
/// ```
/// use autonoe_testkit::fake_claude::TurnEnd;
///
/// let dear = TurnEnd::budget().costing(7.5).with_tokens(1_000_000, 100_000);
/// assert_eq!(dear.subtype, "error_max_budget_usd");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnEnd {
    /// `success`, `error_max_turns`, `error_max_budget_usd`, `error_during_execution`, or another.
    pub subtype: String,
    /// Whether it is an error. A call of the model that failed is a `success` that is one.
    pub is_error: bool,
    /// The last words of a success. `None` for what the agent said last.
    pub text: Option<String>,
    /// What went wrong.
    pub errors: Vec<String>,
    /// The status with which a call of the model failed.
    pub api_error_status: Option<u16>,
    /// Which failure it was, for example `rate_limit`. The program says it before the result.
    pub api_error: Option<String>,
    /// What the turn cost. The program tells the sum of all turns.
    pub cost_usd: f64,
    /// The tokens that the model read in the turn.
    pub input_tokens: u64,
    /// The tokens that the model wrote in the turn.
    pub output_tokens: u64,
}

impl Default for TurnEnd {
    fn default() -> Self {
        Self::completed()
    }
}

impl TurnEnd {
    fn new(subtype: &str, is_error: bool) -> Self {
        Self {
            subtype: subtype.to_owned(),
            is_error,
            text: None,
            errors: Vec::new(),
            api_error_status: None,
            api_error: None,
            cost_usd: 0.001,
            input_tokens: 100,
            output_tokens: 20,
        }
    }

    /// The agent is done.
    pub fn completed() -> Self {
        Self::new("success", false)
    }

    /// The agent had all the turns that it may have.
    pub fn max_turns() -> Self {
        Self::failed_as("error_max_turns", "Reached maximum number of turns (1)")
    }

    /// The money of the session is spent.
    pub fn budget() -> Self {
        Self::failed_as("error_max_budget_usd", "Reached maximum budget ($0.5)")
    }

    /// It failed with a `subtype` of its own, and says why.
    pub fn failed_as(subtype: &str, error: impl Into<String>) -> Self {
        Self {
            errors: vec![error.into()],
            ..Self::new(subtype, true)
        }
    }

    /// A call of the model failed for good: with this name, this status and these words.
    pub fn api_failure(error: &str, status: u16, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            api_error_status: Some(status),
            api_error: Some(error.to_owned()),
            ..Self::new("success", true).costing(0.0).with_tokens(0, 0)
        }
    }

    /// Says what the turn cost.
    #[must_use]
    pub fn costing(mut self, usd: f64) -> Self {
        self.cost_usd = usd;
        self
    }

    /// Says how many tokens the model read and wrote.
    #[must_use]
    pub fn with_tokens(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }
}
