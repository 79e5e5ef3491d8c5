//! [`SessionsInput`]: the input of a run that is driven session by session.

use autonoe_core::engine::{RunInstruction, RunSpec};
use autonoe_core::run::RunMachine;
use autonoe_core::time::Epoch;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionsRun;
use super::losses::Losses;
use super::requests::Claim;
use crate::Timeouts;

/// The input of such a run, or of its continuation with a new history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsInput {
    pub run: RunSpec,
    pub what: SessionsRun,
    /// The queue of the host that the run is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    pub timeouts: Timeouts,
    /// The state at the end of the previous history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<CarriedState>,
}

/// The state of a run in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedState {
    pub machine: RunMachine,
    /// The host of the run.
    pub claim: Option<Claim>,
    /// The highest epoch of the run so far.
    pub epoch: Epoch,
    /// Instructions that are not processed yet.
    pub inbox: Vec<RunInstruction>,
    pub is_paused: bool,
    /// Failed attempts of the session in progress.
    #[serde(default)]
    pub tries: u32,
    /// Known losses of the session in progress.
    #[serde(default)]
    pub losses: Losses,
    /// The time of the last event.
    pub at: Timestamp,
}

impl CarriedState {
    /// The state of a run that has not started.
    pub(crate) fn nothing(what: &SessionsRun) -> Self {
        Self {
            machine: RunMachine::new(what.limits.clone()),
            claim: None,
            epoch: Epoch(0),
            inbox: Vec::new(),
            is_paused: false,
            tries: 0,
            losses: Losses::default(),
            at: Timestamp::UNIX_EPOCH,
        }
    }
}
