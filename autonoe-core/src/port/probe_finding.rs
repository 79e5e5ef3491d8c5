//! One thing that was looked at, and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that was looked at before a run: what was found, and what to do about it.
///
/// ```
/// use autonoe_core::ProbeFinding;
///
/// let finding = ProbeFinding::problem("git", "there is no program `git` on PATH", "install git");
///
/// assert!(finding.is_problem());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProbeFinding {
    /// What was looked at, for example `sandbox`; several findings may share it.
    pub name: String,
    /// What it means for a run.
    pub state: ProbeState,
    /// What was found, for people. Never a secret.
    pub found: String,
    /// What to do about it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// What a finding means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// As it should be.
    Good,
    /// A run could start; a person should know of it.
    Warning,
    /// No run could start, or none would get far.
    Problem,
}

impl ProbeFinding {
    /// Tells of something that is as it should be.
    pub fn good(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: ProbeState::Good,
            found: found.into(),
            remedy: None,
        }
    }

    /// Tells of something that is odd, and what to do about it.
    pub fn warning(
        name: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: ProbeState::Warning,
            remedy: Some(remedy.into()),
            ..Self::good(name, found)
        }
    }

    /// Tells of something that is in the way, and what to do about it.
    pub fn problem(
        name: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: ProbeState::Problem,
            remedy: Some(remedy.into()),
            ..Self::good(name, found)
        }
    }

    /// Tells of something that is odd, in words that say what to do about it.
    pub fn explained_warning(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            state: ProbeState::Warning,
            ..Self::good(name, found)
        }
    }

    /// Tells of something that is in the way, in words that say what to do about it.
    pub fn explained_problem(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            state: ProbeState::Problem,
            ..Self::good(name, found)
        }
    }

    /// Tells whether it is in the way of a run.
    pub fn is_problem(&self) -> bool {
        self.state == ProbeState::Problem
    }
}
