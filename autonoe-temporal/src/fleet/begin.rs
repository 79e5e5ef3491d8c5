//! What a fleet begins with.

use autonoe_core::{Failure, RunSpec};
use autonoe_harness::{FleetCourse, StrategyRun};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Pace;

/// How many members are led by one run at most: each leaves about a dozen events in its history,
/// of which the server keeps some tens of thousands.
pub(crate) const MOST_MEMBERS: usize = 1000;

/// What a fleet begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetBegin {
    /// What is to be done: a [`StrategyRun`].
    pub run: RunSpec,
    /// How long to wait for what.
    pub pace: Pace,
}

impl FleetBegin {
    /// Begins the course of the fleet. Who submitted it may know strategies that are not known here.
    pub(super) fn course(&self, now: Timestamp) -> Result<FleetCourse, Failure> {
        let what = StrategyRun::of(&self.run).map_err(|error| {
            let why = format!("this worker does not know what the fleet is to do: {error}");
            Failure::permanent("not_a_fleet", why)
        })?;
        FleetCourse::new(self.run.id.as_str(), what, now)
            .map_err(|error| Failure::permanent("fleet", error.to_string()))
    }
}
