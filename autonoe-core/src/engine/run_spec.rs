//! [`RunSpec`], a run to execute, and its placement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SESSIONS_JOB;
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
        let (Value::Object(ours), Value::Object(theirs)) = (&self.input, &other.input) else {
            return self == other;
        };
        if self.id != other.id || self.job != other.job || self.job != SESSIONS_JOB {
            return self == other;
        }
        let work = |(name, _): &(&String, &Value)| name.as_str() != "trace";
        let (ours, theirs) = (ours.iter().filter(work), theirs.iter().filter(work));
        ours.eq(theirs)
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
    pub fn on(host: impl Into<String>) -> Self {
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
}
