//! What is to be run, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::RunId;

/// What is to be run, as data that can travel.
///
/// ```
/// use autonoe_core::{RunId, RunSpec};
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
    /// Its name. Submitting it again under that name starts nothing.
    pub id: RunId,
    /// What kind of work it is, for whoever carries it out.
    pub job: String,
    /// What that work needs to know. Large things are named here, not put in.
    #[serde(default)]
    pub input: Value,
}

impl RunSpec {
    /// Makes a run of its name, its kind and what the work needs to know.
    pub fn new(id: RunId, job: impl Into<String>, input: Value) -> Self {
        Self {
            id,
            job: job.into(),
            input,
        }
    }
}

/// Where a run is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Placement {
    /// The host that has what the run needs; any by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Placement {
    /// Anywhere.
    pub fn anywhere() -> Self {
        Self::default()
    }

    /// On one host.
    pub fn on(host: impl Into<String>) -> Self {
        Self {
            host: Some(host.into()),
        }
    }
}

/// What a run can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunInstruction {
    /// Tell its agent something.
    Say(String),
    /// Begin nothing more until it is resumed.
    Pause,
    /// Go on.
    Resume,
}
