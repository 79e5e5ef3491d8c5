//! What a run that is driven session by session is to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ProjectName, RunSpec};
use crate::domain::RunId;
use crate::run::RunLimits;

/// The kind of runs that an engine drives session by session, where it can. Every other kind is
/// one piece of work for a [`JobRunner`](crate::JobRunner).
pub const SESSIONS_JOB: &str = "sessions";

/// A run that is driven session by session: the engine remembers each of them, and a long wait for
/// quota holds nobody who could work.
///
/// ```
/// use autonoe_core::{Mode, ProjectName, RunId, RunLimits, SESSIONS_JOB, SessionsRun};
///
/// let shop = ProjectName::new("team/shop")?;
/// let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Run));
/// let spec = run.named(RunId::new("shop-1"))?;
///
/// assert_eq!(spec.job, SESSIONS_JOB);
/// assert_eq!(run.project()?, shop);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionsRun {
    /// What the sessions work on, for hosts: `{"project": NAME}`, or whatever they understand.
    #[serde(default)]
    pub work: Value,
    /// The limits that the run keeps to.
    #[serde(default)]
    pub limits: RunLimits,
}

/// The work of a run on a project that hosts know by its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnProject {
    project: ProjectName,
}

impl SessionsRun {
    /// Makes a run of what it works on and its limits.
    pub fn new(work: Value, limits: RunLimits) -> Self {
        Self { work, limits }
    }

    /// Makes a run on a project that hosts know by its name.
    pub fn on_project(project: &ProjectName, limits: RunLimits) -> Self {
        Self::new(json!({ "project": project }), limits)
    }

    /// Returns the name of the project that it works on.
    ///
    /// # Errors
    ///
    /// It works on something else.
    pub fn project(&self) -> Result<ProjectName, serde_json::Error> {
        OnProject::deserialize(&self.work).map(|on| on.project)
    }

    /// Makes what is submitted of it.
    ///
    /// # Errors
    ///
    /// It cannot be written as JSON.
    pub fn named(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
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
