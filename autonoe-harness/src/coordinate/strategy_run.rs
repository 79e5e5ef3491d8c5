//! A fleet as one run.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{RunId, RunSpec};
use serde::{Deserialize, Serialize};

use super::MemberSpec;
use crate::{Allowance, IntoStrategy, Strategy, written};

/// The kind of runs that carry out a [`Strategy`] over members, each of which is a run.
pub const STRATEGY_JOB: &str = "strategy";

/// A fleet as data that can travel: who its members are, how they work together, and what they may
/// use.
///
/// It is submitted as one run. A `TemporalEngine` has its members carried out as runs below it; on
/// another engine, a [`StrategyRunner`](super::StrategyRunner) does so. What such a run gives is the
/// [`FleetReport`](super::FleetReport).
///
/// ```
/// use autonoe_core::RunId;
/// use autonoe_harness::{HarnessId, MemberSpec, Race, STRATEGY_JOB, StrategyRun};
/// use serde_json::json;
///
/// let member = |name: &str| MemberSpec::new(HarnessId::new(name), "say", json!("done"));
/// let race = StrategyRun::new(Race {}).members([member("claude"), member("codex")]);
///
/// let run = race.named(RunId::new("login-page"))?;
///
/// assert_eq!(run.job, STRATEGY_JOB);
/// assert_eq!(run.input["strategy"]["type"], "race");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct StrategyRun {
    /// How members work together.
    #[serde(with = "written::strategy")]
    pub strategy: Arc<dyn Strategy>,
    /// Its members in their order. Of those with one name the first counts.
    #[serde(default)]
    pub members: Vec<MemberSpec>,
    /// How many members work at once at most; 10 by default.
    #[serde(default = "at_once")]
    pub max_concurrent: NonZeroUsize,
    /// How long the fleet may take; an hour by default. Then members are stopped.
    #[serde(rename = "timeMs", with = "written::millis", default = "time")]
    pub time: Duration,
    /// How long a member that is told to stop may take to end; two minutes by default. Then it is
    /// left behind, and the report names it.
    #[serde(rename = "patienceMs", with = "written::millis", default = "patience")]
    pub patience: Duration,
    /// What all members may spend together; there is no limit by default.
    #[serde(default)]
    pub budget: Allowance,
}

fn at_once() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(9)
}

fn time() -> Duration {
    Duration::from_secs(60 * 60)
}

fn patience() -> Duration {
    Duration::from_secs(2 * 60)
}

impl StrategyRun {
    /// Makes a fleet without members.
    pub fn new(strategy: impl IntoStrategy) -> Self {
        Self {
            strategy: strategy.into_strategy(),
            members: Vec::new(),
            max_concurrent: at_once(),
            time: time(),
            patience: patience(),
            budget: Allowance::default(),
        }
    }

    /// Adds members. One whose name is there is left out.
    #[must_use]
    pub fn members(mut self, members: impl IntoIterator<Item = MemberSpec>) -> Self {
        self.members.extend(members);
        self
    }

    /// Sets how many members work at once at most.
    #[must_use]
    pub fn max_concurrent(mut self, members: NonZeroUsize) -> Self {
        self.max_concurrent = members;
        self
    }

    /// Sets how long the fleet may take.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets how long a member that is told to stop may take to end.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets what all members may spend together.
    #[must_use]
    pub fn budget(mut self, allowance: Allowance) -> Self {
        self.budget = allowance;
        self
    }

    /// Makes what is submitted of it. The name is that of the fleet, and has letters, digits, `-` and
    /// `_`.
    ///
    /// # Errors
    ///
    /// It cannot be written as JSON.
    pub fn named(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, STRATEGY_JOB, serde_json::to_value(self)?))
    }

    /// Reads it from what was submitted.
    ///
    /// # Errors
    ///
    /// The input of the run is something else.
    pub fn of(run: &RunSpec) -> Result<Self, serde_json::Error> {
        Self::deserialize(&run.input)
    }
}
