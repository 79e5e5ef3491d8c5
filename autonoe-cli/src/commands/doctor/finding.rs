//! What was found, and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::columns;
use crate::present::shorten;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    /// What was looked at, for example `sandbox`; several findings may share it.
    name: &'static str,
    state: State,
    /// What was found, for people.
    found: String,
    /// What to do about it, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// What a finding means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Good,
    /// A run could start; a person should know of it.
    Warning,
    /// No run could start, or none would get far.
    Problem,
}

impl Finding {
    pub(super) fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Good,
            found: found.into(),
            remedy: None,
        }
    }

    pub(super) fn warning(
        name: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Warning,
            remedy: Some(remedy.into()),
            ..Self::good(name, found)
        }
    }

    pub(super) fn problem(
        name: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Problem,
            remedy: Some(remedy.into()),
            ..Self::good(name, found)
        }
    }

    /// A problem whose words say what to do about it.
    pub(super) fn explained_problem(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            state: State::Problem,
            ..Self::good(name, found)
        }
    }

    /// A warning whose words say what to do about it.
    pub(super) fn explained_warning(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            state: State::Warning,
            ..Self::good(name, found)
        }
    }

    pub(super) fn is_problem(&self) -> bool {
        self.state == State::Problem
    }
}

/// Writes the findings for people.
pub(super) fn shown(findings: &[Finding], can_run: bool) -> String {
    let mut rows = Vec::new();
    for finding in findings {
        let mark = match finding.state {
            State::Good => "ok",
            State::Warning => "warning",
            State::Problem => "problem",
        };
        rows.push([
            mark.to_owned(),
            finding.name.to_owned(),
            shorten(&finding.found),
        ]);
        let remedy = finding.remedy.as_deref();
        rows.extend(remedy.map(|remedy| {
            let remedy = format!("-> {}", shorten(remedy));
            [String::new(), String::new(), remedy]
        }));
    }
    let problems = findings.iter().filter(|finding| finding.is_problem());
    let verdict = match (can_run, problems.count()) {
        (true, _) => "A run could start.".to_owned(),
        (false, 1) => "One problem is in the way of a run.".to_owned(),
        (false, count) => format!("{count} problems are in the way of a run."),
    };
    format!("{}\n{verdict}\n", columns(0, &rows))
}
