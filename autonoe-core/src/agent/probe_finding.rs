//! [`ProbeFinding`], one finding of a check before a run, with its remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One finding of a check before a run, with its remedy.
///
/// ```
/// use autonoe_core::agent::ProbeFinding;
///
/// let finding = ProbeFinding::problem("git", "there is no program `git` on PATH", "install git");
///
/// assert!(finding.is_problem());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProbeFinding {
    /// Checked item, for example `sandbox`; several findings may share it.
    pub name: String,
    /// Impact on a run.
    pub state: ProbeState,
    /// Result of the check, for humans. Never a secret.
    pub found: String,
    /// Remedy, for humans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Impact of a finding on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// Everything is fine.
    Good,
    /// A run can start, but the operator should know about this.
    Warning,
    /// No run can start, or it would fail soon.
    Problem,
}

impl ProbeFinding {
    /// Creates a finding without a problem.
    pub fn good(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: ProbeState::Good,
            found: found.into(),
            remedy: None,
        }
    }

    /// Creates a warning with a remedy.
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

    /// Creates a problem, which prevents a run, with a remedy.
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

    /// Creates a warning whose text includes the remedy.
    pub fn explained_warning(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            state: ProbeState::Warning,
            ..Self::good(name, found)
        }
    }

    /// Creates a problem whose text includes the remedy.
    pub fn explained_problem(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            state: ProbeState::Problem,
            ..Self::good(name, found)
        }
    }

    /// Returns whether the finding prevents a run.
    pub fn is_problem(&self) -> bool {
        self.state == ProbeState::Problem
    }
}
