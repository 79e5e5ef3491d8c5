//! [`StrategyRun`]: a fleet that is submitted as one run.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::RunSpec;
use serde::{Deserialize, Serialize};

use super::MemberSpec;
use crate::budget::Allowance;
use crate::serde_formats;
use crate::strategy::{IntoStrategy, Strategy};

/// Job name of runs that execute a [`Strategy`] over members, each of which is a run.
pub const STRATEGY_JOB: &str = "strategy";

/// Serialisable description of a fleet: its members, its strategy and its limits.
///
/// A `TemporalEngine` executes it as one run, and its members as child runs. The output of such a
/// run is the [`FleetReport`](super::FleetReport). In this process, a
/// [`Coordinator`](super::Coordinator) runs it.
///
/// ```
/// use autonoe_core::RunId;
/// use autonoe_harness::coordinate::{MemberSpec, STRATEGY_JOB, StrategyRun};
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::Race;
/// use serde_json::json;
///
/// let member = |name: &str| MemberSpec::new(MemberId::new(name), "say", json!("done"));
/// let race = StrategyRun::new(Race {}).members([member("claude"), member("codex")]);
///
/// let run = race.to_run(RunId::new("login-page"))?;
///
/// assert_eq!(run.job, STRATEGY_JOB);
/// assert_eq!(run.input["strategy"]["type"], "race");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct StrategyRun {
    /// The strategy.
    #[serde(with = "serde_formats::strategy")]
    pub strategy: Arc<dyn Strategy>,
    /// The members, in order. Of several members with the same name, the first counts.
    #[serde(default)]
    pub members: Vec<MemberSpec>,
    /// The maximum number of members that run at once; 10 by default.
    #[serde(default = "at_once")]
    pub max_concurrent: NonZeroUsize,
    /// The time limit of the fleet; an hour by default. Members that still run then are stopped.
    #[serde(
        rename = "timeMs",
        with = "autonoe_core::time::millis",
        default = "time"
    )]
    pub time: Duration,
    /// Time that a stopped member has to end; two minutes by default. After that it is left
    /// behind, and the report names it.
    #[serde(
        rename = "stopTimeoutMs",
        with = "autonoe_core::time::millis",
        default = "default_stop_timeout"
    )]
    pub stop_timeout: Duration,
    /// The budget of all members together; unlimited by default.
    #[serde(default)]
    pub budget: Allowance,
}

fn at_once() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(9)
}

fn time() -> Duration {
    Duration::from_secs(60 * 60)
}

fn default_stop_timeout() -> Duration {
    Duration::from_secs(2 * 60)
}

impl StrategyRun {
    /// Creates a fleet without members.
    pub fn new(strategy: impl IntoStrategy) -> Self {
        Self {
            strategy: strategy.into_strategy(),
            members: Vec::new(),
            max_concurrent: at_once(),
            time: time(),
            stop_timeout: default_stop_timeout(),
            budget: Allowance::default(),
        }
    }

    /// Adds members. A member whose name is already present is ignored.
    #[must_use]
    pub fn members(mut self, members: impl IntoIterator<Item = MemberSpec>) -> Self {
        self.members.extend(members);
        self
    }

    /// Creates the run to submit. The ID is also the name of the fleet, and may contain letters,
    /// digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// It cannot be serialised as JSON.
    pub fn to_run(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, STRATEGY_JOB, serde_json::to_value(self)?))
    }

    /// Parses the input of a submitted run.
    ///
    /// # Errors
    ///
    /// The input of the run is not a fleet.
    pub fn from_run(run: &RunSpec) -> Result<Self, serde_json::Error> {
        Self::deserialize(&run.input)
    }
}
