//! [`FleetInput`]: the input of a fleet's workflow.

use autonoe_core::engine::RunSpec;
use autonoe_core::event::Failure;
use autonoe_harness::FleetMachine;
use autonoe_harness::coordinate::StrategyRun;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Timeouts;

/// Maximum number of members of one run. Each member adds about a dozen events to the history, of
/// which the server keeps some tens of thousands.
pub(crate) const MAX_MEMBERS: usize = 1000;

/// The input of a fleet's workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetInput {
    /// The run, whose input is a [`StrategyRun`].
    pub run: RunSpec,
    /// Timeouts.
    pub timeouts: Timeouts,
}

impl FleetInput {
    /// Creates the state machine of the fleet. The submitter may know strategies that this worker
    /// does not know.
    pub(super) fn machine(&self, now: Timestamp) -> Result<FleetMachine, Failure> {
        let what = StrategyRun::from_run(&self.run).map_err(|error| {
            let why = format!("this worker cannot parse the input of the fleet: {error}");
            Failure::permanent("not_a_fleet", why)
        })?;
        FleetMachine::new(self.run.id.as_str(), what, now)
            .map_err(|error| Failure::permanent("fleet", error.to_string()))
    }
}
