//! [`BackendProbe`], the result of inspecting a backend before a run, and its [`ProbeFinding`]s.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of inspecting a backend: whether a run could start on it, and what prevents that.
///
/// A probe does not call any service, so existing credentials may still be rejected.
///
/// ```
/// use autonoe_core::agent::{Availability, BackendProbe, ProbeFinding};
///
/// let probe = BackendProbe::new("team-agent")
///     .with_program("/opt/agent")
///     .with_version("1.2.0")
///     .finding(ProbeFinding::good("program", "/opt/agent, version 1.2.0"))
///     .finding(ProbeFinding::problem("key", "TEAM_KEY is not set", "ask your team for one"));
///
/// assert_eq!(probe.availability, Availability::Unavailable);
/// assert_eq!(probe.summary(), "TEAM_KEY is not set");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackendProbe {
    /// The `type` of the backend's spec.
    pub backend: String,
    /// Whether a run could start on the backend.
    pub availability: Availability,
    /// The program behind the backend, if there is one and it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Version of the program or service behind the backend, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether Autonoe was tested with this version; omitted if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_tested: Option<bool>,
    /// Model of sessions that name none, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// Whether there is a login or a key.
    pub credentials: Credentials,
    /// Required fields of the spec that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
    /// All findings.
    pub findings: Vec<ProbeFinding>,
}

/// Whether a run could start on a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// A run can start.
    Available,
    /// A run cannot start: one of the findings is a problem.
    Unavailable,
    /// Unknown until the spec is complete: see the missing fields.
    Incomplete,
}

/// Whether a backend has a login or a key. Only its use shows whether it is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Credentials {
    /// There is a login or a key.
    Found,
    /// There is none, but the backend needs one.
    Missing,
    /// The backend needs none.
    NotNeeded,
    /// Unknown without a call to a service.
    #[default]
    Unknown,
}

impl BackendProbe {
    /// Creates the probe of an available backend without findings.
    pub fn new(backend: impl Into<String>) -> Self {
        Self {
            backend: backend.into(),
            availability: Availability::Available,
            program: None,
            version: None,
            is_tested: None,
            default_model: None,
            credentials: Credentials::default(),
            missing_fields: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Creates the probe of a backend whose spec lacks the required `fields`.
    pub fn incomplete(backend: impl Into<String>, fields: Vec<String>) -> Self {
        Self {
            availability: Availability::Incomplete,
            missing_fields: fields,
            ..Self::new(backend)
        }
    }

    /// Sets the program behind the backend.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets the version of the program or service behind the backend.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets whether Autonoe was tested with its version.
    #[must_use]
    pub fn with_tested(mut self, is_tested: bool) -> Self {
        self.is_tested = Some(is_tested);
        self
    }

    /// Sets the model of sessions that name none.
    #[must_use]
    pub fn with_default_model(mut self, model: Option<impl Into<String>>) -> Self {
        self.default_model = model.map(Into::into);
        self
    }

    /// Sets whether the backend has a login or a key.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Adds a finding. A problem makes the backend unavailable.
    #[must_use]
    pub fn finding(mut self, finding: ProbeFinding) -> Self {
        if finding.is_problem() {
            self.availability = Availability::Unavailable;
        }
        self.findings.push(finding);
        self
    }

    /// Summarises the probe in one line: the first problem, or what was found.
    pub fn summary(&self) -> String {
        if !self.missing_fields.is_empty() {
            return format!("it needs {}", self.missing_fields.join(", "));
        }
        if let Some(problem) = self.findings.iter().find(|it| it.is_problem()) {
            return problem.found.clone();
        }
        let program = self.program.as_ref().map(|it| it.display().to_string());
        let version = self.version.as_ref().map(|it| format!("version {it}"));
        let parts: Vec<_> = program.into_iter().chain(version).collect();
        match (parts.is_empty(), self.findings.first()) {
            (false, _) => parts.join(", "),
            (true, Some(finding)) => finding.found.clone(),
            (true, None) => "the probe found nothing".to_owned(),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_the_first_problem_or_the_probe_result() {
        let good = || ProbeFinding::good("program", "it is there");
        let problem = |found: &str| ProbeFinding::problem("x", found, "mend it");
        let probe = || BackendProbe::new("x");
        for (probe, availability, summary) in [
            (probe(), Availability::Available, "the probe found nothing"),
            (
                probe().finding(good()),
                Availability::Available,
                "it is there",
            ),
            (
                probe().with_program("/x").with_version("1").finding(good()),
                Availability::Available,
                "/x, version 1",
            ),
            (
                probe()
                    .with_program("/x")
                    .finding(ProbeFinding::warning("x", "odd", "look")),
                Availability::Available,
                "/x",
            ),
            (
                probe()
                    .with_program("/x")
                    .finding(good())
                    .finding(problem("no key"))
                    .finding(problem("no sandbox")),
                Availability::Unavailable,
                "no key",
            ),
            (
                BackendProbe::incomplete("x", vec!["command".into(), "model".into()]),
                Availability::Incomplete,
                "it needs command, model",
            ),
        ] {
            assert_eq!(probe.summary(), summary);
            assert_eq!(probe.availability, availability, "{summary}");
        }
    }
}
