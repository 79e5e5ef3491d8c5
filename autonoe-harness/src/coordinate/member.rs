//! What a member of a fleet is to do.

use std::time::Duration;

use autonoe_core::{Placement, RunId, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Allowance, HarnessId, written};

/// What a member of a fleet is to do, and what it may use for it.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::{Allowance, HarnessId, MemberSpec};
/// use serde_json::json;
///
/// let one_dollar = Budget::default().with_cost(CostUsd::from_cents(100));
/// let member = MemberSpec::new(HarnessId::new("parser"), "work", json!({"tasks": ["T-001"]}))
///     .allowance(Allowance::new(one_dollar))
///     .timeout(Duration::from_secs(30 * 60));
/// # drop(member);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MemberSpec {
    /// Who it is.
    pub id: HarnessId,
    /// What kind of work it is, for whoever carries it out.
    pub job: String,
    /// What that work needs to know.
    #[serde(default)]
    pub work: Value,
    /// What it may spend. It is reserved before the member starts.
    #[serde(default)]
    pub allowance: Allowance,
    /// How long it may take from its start; as long as the fleet by default.
    #[serde(
        rename = "timeoutMs",
        with = "written::millis::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// Where it works.
    #[serde(default)]
    pub place: Placement,
}

impl MemberSpec {
    /// Makes a member of its kind of work and what that needs to know.
    pub fn new(id: HarnessId, job: impl Into<String>, work: Value) -> Self {
        Self {
            id,
            job: job.into(),
            work,
            allowance: Allowance::default(),
            timeout: None,
            place: Placement::anywhere(),
        }
    }

    /// Sets what it may spend; everything that is free by default, where that has no limit.
    #[must_use]
    pub fn allowance(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Sets how long it may take from its start.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets where it works.
    #[must_use]
    pub fn place(mut self, place: Placement) -> Self {
        self.place = place;
        self
    }

    /// Makes the run of this member, which is the same for the same fleet and the same input.
    pub(super) fn run(&self, run: RunId, given: Option<String>) -> Result<RunSpec, String> {
        let job = MemberJob {
            member: self.id.clone(),
            work: self.work.clone(),
            given,
            allowance: self.allowance,
        };
        let input = serde_json::to_value(job).map_err(|error| error.to_string())?;
        Ok(RunSpec::new(run, self.job.clone(), input))
    }
}

/// What the run of a member is given as its input, for the [`JobRunner`](autonoe_core::JobRunner)
/// that carries it out.
///
/// ```
/// use autonoe_core::{RunId, RunSpec};
/// use autonoe_harness::MemberJob;
/// use serde_json::json;
///
/// let input = json!({"member": "printer", "work": {"tasks": ["T-002"]}, "given": "a parser"});
/// let run = RunSpec::new(RunId::new("shop.printer"), "work", input);
///
/// let job = MemberJob::of(&run)?;
///
/// assert_eq!(job.given.as_deref(), Some("a parser"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MemberJob {
    /// Who it is.
    pub member: HarnessId,
    /// What its work needs to know.
    #[serde(default)]
    pub work: Value,
    /// What those before it said, where it builds on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// What it may spend.
    #[serde(default)]
    pub allowance: Allowance,
}

impl MemberJob {
    /// Reads it from a run.
    ///
    /// # Errors
    ///
    /// The input of the run is something else.
    pub fn of(run: &RunSpec) -> Result<Self, serde_json::Error> {
        Self::deserialize(&run.input)
    }
}
