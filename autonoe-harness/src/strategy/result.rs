//! What agents came to, each and all together.

use std::fmt;
use std::time::Duration;

use autonoe_core::{CostTotal, TokenUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BudgetedKind, WorkPlace, written};

/// Names one agent of a fleet, and its folder: no two of a coordinator share it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct HarnessId(String);

impl HarnessId {
    /// Takes `text` as an id.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HarnessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What one agent came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessResult {
    /// Who it was.
    pub id: HarnessId,
    /// Whether its work was done and verified.
    pub success: bool,
    /// What it said at last.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// How far it came, from 0 to 1.
    pub progress: f64,
    /// How many tests passed at last, if any were counted.
    pub tests_passed: Option<u64>,
    /// Deliverables that have passed in the ledger of its folder.
    #[serde(default)]
    pub deliverables_passed: u64,
    /// Success criteria that held at the last check of each task. Parts of `all` and `any` count one
    /// by one.
    #[serde(default)]
    pub criteria_passed: u64,
    /// How many of its attempts failed.
    pub failures: u32,
    /// How long it worked.
    #[serde(rename = "durationMs", with = "written::millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// What it cost.
    pub cost: CostTotal,
    /// The tokens that it used, as far as they were told.
    #[serde(default)]
    pub tokens: TokenUsage,
    /// What of its allowance was spent to the last when it failed; `None` if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<BudgetedKind>,
    /// Where work of it is that was not merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<WorkPlace>,
}

impl HarnessResult {
    /// Makes the result of an agent whose work is done.
    pub fn success(id: HarnessId, output: impl Into<String>) -> Self {
        Self {
            id,
            success: true,
            output: output.into(),
            error: None,
            progress: 1.0,
            tests_passed: None,
            deliverables_passed: 0,
            criteria_passed: 0,
            failures: 0,
            duration: Duration::ZERO,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            exhausted: None,
            kept: Vec::new(),
        }
    }

    /// Makes the result of an agent that failed.
    pub fn failure(id: HarnessId, error: impl Into<String>) -> Self {
        Self {
            success: false,
            error: Some(error.into()),
            progress: 0.0,
            ..Self::success(id, String::new())
        }
    }

    /// Makes the result of an agent that nobody hears of any more. What it cost is not known, which
    /// is not the same as nothing.
    pub(crate) fn lost(id: HarnessId, error: impl Into<String>) -> Self {
        Self {
            cost: CostTotal::unknown(),
            ..Self::failure(id, error)
        }
    }
}

/// What a fleet came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AggregatedResult {
    /// The `type` of the strategy.
    pub strategy: String,
    /// Whether it succeeded, as the strategy sees it.
    pub success: bool,
    /// What each member came to that was started, in their order.
    pub results: Vec<HarnessResult>,
    /// The members that were never started.
    pub not_started: Vec<HarnessId>,
    /// Whose result counts, where one does.
    pub winner: Option<HarnessId>,
    /// The output of all, or of the one that counts.
    pub aggregated_output: Option<String>,
}

impl AggregatedResult {
    /// Returns the result that counts, where one does.
    pub fn winning_result(&self) -> Option<&HarnessResult> {
        let winner = self.winner.as_ref()?;
        self.results.iter().find(|result| result.id == *winner)
    }
}
