//! Input and report of the stuck detector.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pluralize::pluralize;

/// Report after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckReport {
    /// The severity.
    pub level: StuckLevel,
    /// All reasons, the worst first.
    pub reasons: Vec<StuckReason>,
}

impl StuckReport {
    /// Returns whether recovery is needed.
    pub fn is_stuck(&self) -> bool {
        self.level >= StuckLevel::Stuck
    }
}

/// Severity of a stuck report.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StuckLevel {
    /// The agent makes progress.
    #[default]
    Fine,
    /// The agent may be about to get stuck.
    Warning,
    /// The agent is stuck.
    Stuck,
    /// The agent loops and must be stopped.
    Critical,
}

/// A sign that an agent is stuck, with the number of consecutive occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StuckReason {
    /// Iterations without progress.
    NoProgress(usize),
    /// The same action.
    RepeatedAction(usize),
    /// The same error.
    RepeatedError(usize),
    /// Two alternating actions; the number counts pairs.
    AlternatingPair(usize),
    /// The same output.
    IdenticalOutput(usize),
    /// Iterations that were too fast to have done anything.
    SuspiciousSpeed(usize),
    /// Iterations with denied calls: another approach is needed, not another attempt.
    Denied(usize),
    /// The first iteration after a recovery action failed.
    NotRecovered,
}

impl StuckReason {
    /// Returns whether the reason is a lack of permission, and not of ability.
    pub fn is_about_permission(self) -> bool {
        matches!(self, Self::Denied(_))
    }
}

impl fmt::Display for StuckReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgress(times) => {
                write!(f, "{} without progress", pluralize(*times, "iteration"))
            }
            Self::RepeatedAction(times) => {
                write!(f, "the same action {}", pluralize(*times, "time"))
            }
            Self::RepeatedError(times) => write!(f, "the same error {}", pluralize(*times, "time")),
            Self::AlternatingPair(times) => {
                write!(f, "the same two actions {}", pluralize(*times, "time"))
            }
            Self::IdenticalOutput(times) => {
                write!(f, "the same output {}", pluralize(*times, "time"))
            }
            Self::SuspiciousSpeed(times) => {
                write!(
                    f,
                    "{} that took suspiciously little time",
                    pluralize(*times, "iteration")
                )
            }
            Self::Denied(times) => {
                write!(f, "{} with denied calls", pluralize(*times, "iteration"))
            }
            Self::NotRecovered => f.write_str("no progress after a recovery"),
        }
    }
}

/// Behaviour of an agent in one iteration, as input of the stuck detector.
///
/// ```
/// use autonoe_harness::stuck::Iteration;
///
/// let mut iteration = Iteration::new("I have fixed the test.", 0.4);
/// iteration.actions.push("Edit src/lib.rs".to_owned());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Iteration {
    /// The output of the agent.
    pub output: String,
    /// The tool calls: each with the tool and its input.
    pub actions: Vec<String>,
    /// The error of the iteration, if it failed. A denied call is not such an error.
    pub error: Option<String>,
    /// The number of denied calls.
    pub denials: u32,
    /// The share of new progress, from 0 to 1: the score of a signal that
    /// [`Novelty`](crate::progress::Novelty) reduced.
    pub score: f64,
    /// The duration of the iteration.
    pub time: Duration,
}

impl Iteration {
    /// Creates an iteration of one minute without actions.
    pub fn new(output: impl Into<String>, score: f64) -> Self {
        Self {
            output: output.into(),
            actions: Vec::new(),
            error: None,
            denials: 0,
            score,
            time: Duration::from_secs(60),
        }
    }
}

/// Thresholds of the stuck detector. A count of 0 disables its sign.
///
/// ```
/// use autonoe_harness::stuck::StuckThresholds;
///
/// let thresholds: StuckThresholds = serde_json::from_str(r#"{"stuckAfter": 5}"#)?;
/// assert_eq!(thresholds.progress, 0.15);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StuckThresholds {
    /// The score below which an iteration counts as without progress.
    pub progress: f64,
    /// The number of consecutive iterations without progress before a warning.
    pub warn_after: usize,
    /// The number of consecutive iterations without progress before the agent is stuck.
    pub stuck_after: usize,
    /// The number of consecutive occurrences of the same action.
    pub repeated_actions: usize,
    /// The number of consecutive iterations with the same error.
    pub repeated_errors: usize,
    /// The number of consecutive alternations of the same two actions.
    pub alternations: usize,
    /// The number of consecutive identical outputs before the agent is stuck.
    pub identical_outputs: usize,
    /// The number of consecutive identical outputs before the agent must be stopped.
    pub runaway_outputs: usize,
    /// The number of consecutive iterations that are too fast and without progress.
    pub hasty_iterations: usize,
    /// The duration in seconds below which an iteration is too fast.
    pub hasty_seconds: f64,
    /// The number of consecutive iterations with denied calls and without progress.
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
