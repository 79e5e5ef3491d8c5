//! What an agent did in one iteration.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What an agent did in one iteration, as far as it shows whether it is stuck.
///
/// ```
/// use autonoe_harness::Iteration;
///
/// let mut iteration = Iteration::new("I have fixed the test.", 0.4);
/// iteration.actions.push("Edit src/lib.rs".to_owned());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Iteration {
    /// What it said.
    pub output: String,
    /// What it did, call by call: the tool and what it was called with.
    pub actions: Vec<String>,
    /// How it failed, if it did. That a call was denied is no failure of this kind.
    pub error: Option<String>,
    /// How many of its calls were denied.
    pub denials: u32,
    /// How much of its progress is new, from 0 to 1: the score of a signal that
    /// [`Novelty`](crate::Novelty) reduced.
    pub score: f64,
    /// How long it took.
    pub time: Duration,
}

impl Iteration {
    /// Makes an iteration that took a minute and in which nothing was done.
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
