//! What was found of a backend before anything runs on it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProbeFinding;

/// What was found of a backend: whether a run could start on it, and what is in its way.
///
/// It is made without a call to any service: a key that is there may still be refused.
///
/// ```
/// use autonoe_core::{Availability, BackendProbe, ProbeFinding};
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
    /// The `type` of its spec.
    pub backend: String,
    /// Whether a run could start on it.
    pub availability: Availability,
    /// The program behind it, if there is one and it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// The version of what is behind it, when it can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether Autonoe was tried with this version; left out where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_tested: Option<bool>,
    /// The model of sessions that name none, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// Whether there is a login or a key.
    pub credentials: Credentials,
    /// The fields that its spec must have and that were not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// All that was looked at.
    pub findings: Vec<ProbeFinding>,
}

/// Whether a run could start on a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Nothing is in the way.
    Available,
    /// Something is in the way: one of the findings is a problem.
    Unavailable,
    /// Nobody can tell before more is said of it: see what it needs.
    Incomplete,
}

/// Whether a backend has a login or a key. Whether that is accepted is seen when it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Credentials {
    /// It has.
    Found,
    /// It has none, and needs one.
    Missing,
    /// It needs none.
    NotNeeded,
    /// Nobody can tell without asking a service.
    #[default]
    Unknown,
}

impl BackendProbe {
    /// Begins with a backend of which nothing was looked at.
    pub fn new(backend: impl Into<String>) -> Self {
        Self {
            backend: backend.into(),
            availability: Availability::Available,
            program: None,
            version: None,
            is_tested: None,
            default_model: None,
            credentials: Credentials::default(),
            needs: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Makes the probe of a backend of which nobody has said `fields`.
    pub fn incomplete(backend: impl Into<String>, fields: Vec<String>) -> Self {
        Self {
            availability: Availability::Incomplete,
            needs: fields,
            ..Self::new(backend)
        }
    }

    /// Sets the program behind it.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets the version of what is behind it.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Says whether Autonoe was tried with its version.
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

    /// Says whether it has a login or a key.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Adds what was looked at. A problem makes the backend unavailable.
    #[must_use]
    pub fn finding(mut self, finding: ProbeFinding) -> Self {
        if finding.is_problem() {
            self.availability = Availability::Unavailable;
        }
        self.findings.push(finding);
        self
    }

    /// Says it in one line: what is in the way, or what was found.
    pub fn summary(&self) -> String {
        if !self.needs.is_empty() {
            return format!("it needs {}", self.needs.join(", "));
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
            (true, None) => "nothing is known of it".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_first_problem_or_what_is_there() {
        let good = || ProbeFinding::good("program", "it is there");
        let problem = |found: &str| ProbeFinding::problem("x", found, "mend it");
        let probe = || BackendProbe::new("x");
        for (probe, availability, summary) in [
            (probe(), Availability::Available, "nothing is known of it"),
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
