//! What is found about an agent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::counted;

/// What is found after an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckReport {
    /// How bad it is.
    pub level: StuckLevel,
    /// All that speaks for it, the worst first.
    pub reasons: Vec<StuckReason>,
}

impl StuckReport {
    /// Tells whether something must be done.
    pub fn is_stuck(&self) -> bool {
        self.level >= StuckLevel::Stuck
    }
}

/// How bad it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StuckLevel {
    /// It comes on.
    Fine,
    /// It may be about to be stuck.
    Warning,
    /// It is stuck.
    Stuck,
    /// It runs in a circle and must be stopped.
    Critical,
}

/// A sign that an agent is stuck, with how often in a row it was seen.
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
    /// Two actions that alternate; the number is of pairs.
    AlternatingPair(usize),
    /// The same output.
    IdenticalOutput(usize),
    /// Iterations that were over too quickly to have done anything.
    SuspiciousSpeed(usize),
    /// Iterations with calls that were denied: another way is needed, not another attempt.
    Denied(usize),
    /// It went wrong at once after it had been helped.
    NotRecovered,
}

impl StuckReason {
    /// Tells whether it is about what the agent may do, and not about what it can.
    pub fn is_about_permission(self) -> bool {
        matches!(self, Self::Denied(_))
    }
}

impl fmt::Display for StuckReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgress(times) => {
                write!(f, "{} without progress", counted(*times, "iteration"))
            }
            Self::RepeatedAction(times) => write!(f, "the same action {}", counted(*times, "time")),
            Self::RepeatedError(times) => write!(f, "the same error {}", counted(*times, "time")),
            Self::AlternatingPair(times) => {
                write!(f, "the same two actions {}", counted(*times, "time"))
            }
            Self::IdenticalOutput(times) => {
                write!(f, "the same output {}", counted(*times, "time"))
            }
            Self::SuspiciousSpeed(times) => {
                write!(f, "{} that took no time", counted(*times, "iteration"))
            }
            Self::Denied(times) => {
                write!(f, "{} with denied calls", counted(*times, "iteration"))
            }
            Self::NotRecovered => f.write_str("no better after it was helped"),
        }
    }
}
