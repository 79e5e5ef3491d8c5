//! What is to change when an agent is stuck.

use serde::{Deserialize, Serialize};

use super::BackendModel;

/// What is to change, and how that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecoveryStep {
    /// Names it among the steps of its strategy, none of which comes twice.
    pub label: String,
    /// What is changed, in words for people.
    pub said: String,
    /// What is changed.
    pub change: RecoveryChange,
}

impl RecoveryStep {
    /// Makes a step.
    pub fn new(label: impl Into<String>, said: impl Into<String>, change: RecoveryChange) -> Self {
        Self {
            label: label.into(),
            said: said.into(),
            change,
        }
    }

    /// Returns how many iterations it takes at least and at most.
    pub fn iterations(&self) -> u32 {
        match &self.change {
            RecoveryChange::Explore {
                branches,
                iterations,
            } => u32::try_from(branches.len())
                .unwrap_or(u32::MAX)
                .saturating_mul(*iterations),
            _ => 1,
        }
    }
}

/// What is to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum RecoveryChange {
    /// The agent is told its goal in other words.
    Prompt {
        /// The goal from now on.
        goal: String,
    },
    /// Another backend or model goes on.
    Escalate {
        /// Which.
        to: BackendModel,
    },
    /// Several ways are tried, each in a worktree of its own.
    Explore {
        /// The ways, in the order in which they are tried.
        branches: Vec<ExplorationBranch>,
        /// How many iterations each has.
        iterations: u32,
    },
    /// A person is asked.
    Ask {
        /// What.
        question: String,
    },
}

/// One way that is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplorationBranch {
    /// Its name, which becomes a part of a branch.
    pub name: String,
    /// The goal of the agent there.
    pub goal: String,
}
