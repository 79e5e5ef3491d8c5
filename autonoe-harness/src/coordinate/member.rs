//! Specification of a fleet member, and the input of its run.

use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{Placement, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::Allowance;
use crate::strategy::MemberId;

/// Work of a fleet member, with its limits.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::coordinate::MemberSpec;
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::Allowance;
/// use serde_json::json;
///
/// let one_dollar = Budget::default().with_cost(CostUsd::from_cents(100));
/// let member = MemberSpec::new(MemberId::new("parser"), "work", json!({"tasks": ["T-001"]}))
///     .allowance(Allowance::new(one_dollar))
///     .timeout(Duration::from_secs(30 * 60));
/// # drop(member);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MemberSpec {
    /// The ID of the member.
    pub id: MemberId,
    /// The kind of work, which selects the job runner.
    pub job: String,
    /// The input of the work.
    #[serde(default)]
    pub work: Value,
    /// The allowance. It is reserved before the member starts.
    #[serde(default)]
    pub allowance: Allowance,
    /// The time limit from its start; that of the fleet by default.
    #[serde(
        rename = "timeoutMs",
        with = "autonoe_core::time::millis::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// The placement of its run.
    #[serde(rename = "place", default)]
    pub placement: Placement,
}

impl MemberSpec {
    /// Creates a member from a kind of work and its input.
    pub fn new(id: MemberId, job: impl Into<String>, work: Value) -> Self {
        Self {
            id,
            job: job.into(),
            work,
            allowance: Allowance::default(),
            timeout: None,
            placement: Placement::anywhere(),
        }
    }

    /// Sets the allowance; unlimited by default, which only an unlimited fleet can pay.
    #[must_use]
    pub fn allowance(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Sets the time limit from its start.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the placement of its run.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Creates the run of this member. The same fleet and input give the same run.
    pub(super) fn run(&self, run: RunId, input: Option<String>) -> Result<RunSpec, String> {
        let job = MemberJob {
            member: self.id.clone(),
            work: self.work.clone(),
            input,
            allowance: self.allowance,
        };
        let input = serde_json::to_value(job).map_err(|error| error.to_string())?;
        Ok(RunSpec::new(run, self.job.clone(), input))
    }
}

/// Input of a member's run, for the [`JobRunner`](autonoe_core::engine::JobRunner) that executes
/// it.
///
/// ```
/// use autonoe_core::engine::RunSpec;
/// use autonoe_core::RunId;
/// use autonoe_harness::coordinate::MemberJob;
/// use serde_json::json;
///
/// let input = json!({"member": "printer", "work": {"tasks": ["T-002"]}, "input": "a parser"});
/// let run = RunSpec::new(RunId::new("shop.printer"), "work", input);
///
/// let job = MemberJob::from_run(&run)?;
///
/// assert_eq!(job.input.as_deref(), Some("a parser"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MemberJob {
    /// The ID of the member.
    pub member: MemberId,
    /// The input of the work.
    #[serde(default)]
    pub work: Value,
    /// The output of the members that this one builds on, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The allowance of the member.
    #[serde(default)]
    pub allowance: Allowance,
}

impl MemberJob {
    /// Parses the input of a run.
    ///
    /// # Errors
    ///
    /// The input of the run is not a member job.
    pub fn from_run(run: &RunSpec) -> Result<Self, serde_json::Error> {
        Self::deserialize(&run.input)
    }
}
