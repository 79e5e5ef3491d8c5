//! From when on an agent counts as stuck.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From when on an agent counts as stuck. A number of 0 switches its sign off.
///
/// ```
/// use autonoe_harness::StuckThresholds;
///
/// let thresholds: StuckThresholds = serde_json::from_str(r#"{"stuckAfter": 5}"#)?;
/// assert_eq!(thresholds.progress, 0.15);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StuckThresholds {
    /// Below which score an iteration is without progress.
    pub progress: f64,
    /// After how many iterations in a row without progress there is a warning.
    pub warn_after: usize,
    /// After how many iterations in a row without progress it is stuck.
    pub stuck_after: usize,
    /// How often in a row the same action is done.
    pub repeated_actions: usize,
    /// How often in a row the same error ends an iteration.
    pub repeated_errors: usize,
    /// How often in a row the same two actions alternate.
    pub alternations: usize,
    /// After how many outputs in a row that are the same it is stuck.
    pub identical_outputs: usize,
    /// After how many outputs in a row that are the same it must be stopped.
    pub runaway_outputs: usize,
    /// How many iterations in a row are over too quickly, without progress.
    pub hasty_iterations: usize,
    /// Below how many seconds an iteration is over too quickly.
    pub hasty_seconds: f64,
    /// How many iterations in a row have calls that were denied, without progress.
    pub denied_iterations: usize,
}

impl Default for StuckThresholds {
    fn default() -> Self {
        Self {
            progress: 0.15,
            warn_after: 2,
            stuck_after: 3,
            repeated_actions: 5,
            repeated_errors: 3,
            alternations: 3,
            identical_outputs: 3,
            runaway_outputs: 5,
            hasty_iterations: 3,
            hasty_seconds: 2.0,
            denied_iterations: 3,
        }
    }
}
