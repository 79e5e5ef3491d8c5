//! [`SessionsRun`], the specification of a run that an engine drives session by session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ProjectName, RunSpec};
use crate::event::TraceContext;
use crate::run::RunLimits;
use crate::time::RunId;

/// The kind of runs that an engine drives session by session, if it supports that. Every other kind
/// is one job of a [`JobRunner`](crate::engine::JobRunner).
pub const SESSIONS_JOB: &str = "sessions";

/// A run that an engine drives session by session: the engine records each session, and a long wait
/// for quota does not occupy a worker.
///
/// ```
/// use autonoe_core::engine::{ProjectName, SESSIONS_JOB, SessionsRun};
/// use autonoe_core::run::RunLimits;
/// use autonoe_core::{Mode, RunId};
///
/// let shop = ProjectName::new("team/shop")?;
/// let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Run));
/// let spec = run.to_spec(RunId::new("shop-1"))?;
///
/// assert_eq!(spec.job, SESSIONS_JOB);
/// assert_eq!(run.project()?, shop);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionsRun {
    /// The work of the sessions, for session hosts: `{"project": NAME}`, or any other value that
    /// they understand.
    #[serde(default)]
    pub work: Value,
    /// The limits of the run.
    #[serde(default)]
    pub limits: RunLimits,
    /// The parent of the spans of all sessions, whatever host they run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// The work of a run on a project that hosts know by its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnProject {
    project: ProjectName,
}

impl SessionsRun {
    /// Creates a run from its work and its limits.
    pub fn new(work: Value, limits: RunLimits) -> Self {
        Self {
            work,
            limits,
            trace: None,
        }
    }

    /// Creates a run on a project that hosts know by its name.
    pub fn on_project(project: &ProjectName, limits: RunLimits) -> Self {
        Self::new(json!({ "project": project }), limits)
    }

    /// Sets the parent of the spans of all sessions.
    #[must_use]
    pub fn trace(mut self, parent: TraceContext) -> Self {
        self.trace = Some(parent);
        self
    }

    /// Returns the name of its project.
    ///
    /// # Errors
    ///
    /// The work is not a project.
    pub fn project(&self) -> Result<ProjectName, serde_json::Error> {
        OnProject::deserialize(&self.work).map(|on| on.project)
    }

    /// Returns the specification to submit under `id`.
    ///
    /// # Errors
    ///
    /// The run cannot be serialised as JSON.
    pub fn to_spec(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, SESSIONS_JOB, serde_json::to_value(self)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_a_project_is_one() {
        let project = |work| SessionsRun::new(work, RunLimits::default()).project();

        assert!(project(json!({"project": "shop"})).is_ok());
        assert!(project(json!({"project": "../shop"})).is_err());
        assert!(project(json!({"project": "shop", "command": "sh"})).is_err());
        assert!(project(json!(null)).is_err());
    }
}
