//! What a coordinator gives back.

use autonoe_core::{EngineError, RunId};
use serde::{Deserialize, Serialize};

use crate::{Accounts, AggregatedResult, HarnessId};

/// What a fleet came to, and what it cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetReport {
    /// What its members came to, each and all together.
    pub result: AggregatedResult,
    /// Why it ended before its strategy was done, if it did. Then it has not succeeded.
    pub cut_short: Option<CutShort>,
    /// The accounts as they are now: members are settled.
    pub accounts: Accounts,
    /// Members that were told to stop and had not ended in time: they may still be at work.
    pub left_behind: Vec<HarnessId>,
}

/// Why a fleet ended before its strategy was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "camelCase")]
#[non_exhaustive]
pub enum CutShort {
    /// Somebody cancelled it.
    #[error("the fleet was cancelled")]
    Cancelled,
    /// Its time was up.
    #[error("the time of the fleet is up")]
    TimeIsUp,
    /// A member cannot be paid, and nobody is at work who could return something.
    #[error("{member} cannot be started: {why}")]
    CannotBePaid {
        /// Who.
        member: HarnessId,
        /// What is missing, for people.
        why: String,
    },
    /// The strategy neither starts anybody nor finishes.
    #[error("the strategy waits for nobody: it starts no member and does not finish")]
    NothingOrdered,
}

/// Why a fleet could not be coordinated. Runs that were started go on, and are found again by the
/// next coordinator of that fleet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinationError {
    /// The name cannot be part of the names of runs.
    #[error("{0:?} cannot be the name of a fleet: use letters, digits, `-` and `_`")]
    FleetName(String),
    /// The accounts have no such account.
    #[error("there is no account {0:?} to pay the fleet from")]
    NoAccount(String),
    /// The engine does not answer.
    #[error("the run {run} cannot be looked for")]
    Engine {
        /// The run that was asked about.
        run: RunId,
        /// What the engine says.
        source: EngineError,
    },
}
