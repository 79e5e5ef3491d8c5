//! How a run stands.

use serde::{Deserialize, Serialize};

use super::RunOutcome;
use crate::domain::{RunId, Spent};

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunView {
    /// Which run.
    pub id: RunId,
    /// What it does.
    pub phase: RunPhase,
    /// How far it has come, from 0 to 1.
    pub progress: f64,
    /// What it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The number of its iteration; 0 before the first.
    pub iteration: u32,
    /// What it has spent.
    pub spent: Spent,
    /// What it came to, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
}

impl RunView {
    /// Makes the view of a run that has not begun.
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            phase: RunPhase::Waiting,
            progress: 0.0,
            task: None,
            iteration: 0,
            spent: Spent::default(),
            outcome: None,
        }
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunPhase {
    /// It has not begun.
    Waiting,
    /// It works.
    Running,
    /// It is held until it is resumed.
    Paused,
    /// It was told to end, and has not ended yet.
    Stopping,
    /// It has ended.
    Ended,
}
