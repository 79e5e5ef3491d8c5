//! [`RunSpec`], a run to execute: its placement, its project and its sessions.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::TraceContext;
use crate::run::RunLimits;
use crate::time::RunId;

/// A serialisable description of a run.
///
/// ```
/// use autonoe_core::engine::RunSpec;
/// use autonoe_core::RunId;
/// use serde_json::json;
///
/// let run = RunSpec::new(RunId::new("login-page"), "project", json!({"folder": "shop"}));
///
/// assert_eq!(serde_json::to_value(&run)?["job"], "project");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RunSpec {
    /// The ID of the run. Submitting the run again under this ID starts nothing.
    pub id: RunId,
    /// The kind of job, which selects its runner.
    pub job: String,
    /// The input of the job. Large inputs are referenced, not embedded.
    #[serde(default)]
    pub input: Value,
}

impl RunSpec {
    /// Creates a run from its ID, its kind of job and its input.
    pub fn new(id: RunId, job: impl Into<String>, input: Value) -> Self {
        Self {
            id,
            job: job.into(),
            input,
        }
    }

    /// Returns whether `other` asks for the same work, so that an engine treats it as the same
    /// submission. The trace of a [`SessionsRun`](super::SessionsRun) is not part of the work:
    /// each process that submits has its own.
    pub fn is_same_work(&self, other: &Self) -> bool {
        let (Value::Object(input), Value::Object(other_input)) = (&self.input, &other.input) else {
            return self == other;
        };
        if self.id != other.id || self.job != other.job || self.job != SESSIONS_JOB {
            return self == other;
        }
        let work = |(name, _): &(&String, &Value)| name.as_str() != "trace";
        let (input, other_input) = (input.iter().filter(work), other_input.iter().filter(work));
        input.eq(other_input)
    }
}

/// The host that executes a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Placement {
    /// The host that has what the run needs; any host by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Placement {
    /// Places the run on any host.
    pub fn anywhere() -> Self {
        Self::default()
    }

    /// Places the run on `host`.
    pub fn on_host(host: impl Into<String>) -> Self {
        Self {
            host: Some(host.into()),
        }
    }
}

/// An instruction to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunInstruction {
    /// Send its agent a message.
    Message(String),
    /// Start no session until the run is resumed.
    Pause,
    /// Resume the run.
    Resume,
}

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

/// The name of a project, the same on every host: a path below the host's project folder.
///
/// A name has one or more parts, separated by `/`. A part consists of letters, digits, `-`, `_` and
/// `.`, and does not begin with `.` or `-`. So a name cannot lead out of the project folder.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::engine::ProjectName;
///
/// let shop = ProjectName::new("team/shop")?;
///
/// assert_eq!(shop.path_below(Path::new("/srv")), Path::new("/srv/team/shop"));
/// assert!(ProjectName::new("../shop").is_err());
/// # Ok::<(), autonoe_core::engine::ProjectNameError>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectName(String);

/// A text that is not a valid project name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a valid project name: use parts of letters, digits, `-`, `_` and `.`, \
     separated by `/`; no part may begin with `.` or `-`"
)]
pub struct ProjectNameError(String);

/// The maximum length in bytes. Longer names lead to paths that operating systems refuse.
const MAX_LEN: usize = 200;

impl ProjectName {
    /// Parses a project name.
    ///
    /// # Errors
    ///
    /// The text is not a valid name.
    pub fn new(name: impl Into<String>) -> Result<Self, ProjectNameError> {
        let name = name.into();
        if name.len() <= MAX_LEN && name.split('/').all(is_part) {
            Ok(Self(name))
        } else {
            Err(ProjectNameError(name))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the project below `root`, the folder of all projects.
    pub fn path_below(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

fn is_part(part: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_plain)
}

impl TryFrom<String> for ProjectName {
    type Error = ProjectNameError;

    fn try_from(name: String) -> Result<Self, ProjectNameError> {
        Self::new(name)
    }
}

impl From<ProjectName> for String {
    fn from(name: ProjectName) -> Self {
        name.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_trace_of_a_sessions_run_is_not_part_of_its_work() {
        let run = |job: &str, input| RunSpec::new(RunId::new("r"), job, input);
        let plain = run(SESSIONS_JOB, json!({"work": 1}));
        let traced = run(SESSIONS_JOB, json!({"trace": "a", "work": 1}));

        assert!(plain.is_same_work(&traced) && traced.is_same_work(&plain));
        let other_trace = run(SESSIONS_JOB, json!({"trace": "b", "work": 1}));
        assert!(traced.is_same_work(&other_trace));
        assert!(!traced.is_same_work(&run(SESSIONS_JOB, json!({"trace": "a", "work": 2}))));
        assert!(!traced.is_same_work(&run(SESSIONS_JOB, json!({"trace": "a"}))));
    }

    #[test]
    fn the_input_of_other_jobs_is_compared_in_full() {
        let run = |id: &str, input| RunSpec::new(RunId::new(id), "import", input);

        assert!(run("r", json!({"trace": 1})).is_same_work(&run("r", json!({"trace": 1}))));
        assert!(!run("r", json!({"trace": 1})).is_same_work(&run("r", json!({"trace": 2}))));
        assert!(!run("r", json!(1)).is_same_work(&run("s", json!(1))));
    }

    #[test]
    fn project_requires_exactly_a_valid_name() {
        let project = |work| SessionsRun::new(work, RunLimits::default()).project();

        assert!(project(json!({"project": "shop"})).is_ok());
        assert!(project(json!({"project": "../shop"})).is_err());
        assert!(project(json!({"project": "shop", "command": "sh"})).is_err());
        assert!(project(json!(null)).is_err());
    }

    #[test]
    fn project_names_cannot_leave_their_folder() {
        for name in ["shop", "team/shop", "Shop_2.0", "a-b/c.d"] {
            assert!(ProjectName::new(name).is_ok(), "{name:?}");
        }
        let wrong = [
            "",
            "/",
            "/shop",
            "shop/",
            "a//b",
            ".",
            "..",
            "a/..",
            "a/../b",
            ".git",
            "a/.autonoe",
            "-v",
            "a b",
            "a\\b",
            "a\nb",
            "a\0b",
            "~",
            "ä",
        ];
        for name in wrong {
            assert!(ProjectName::new(name).is_err(), "{name:?}");
        }
        assert!(ProjectName::new("a".repeat(MAX_LEN + 1)).is_err());
    }
}
