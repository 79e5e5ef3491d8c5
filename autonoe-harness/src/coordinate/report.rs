//! What a coordinator gives back.

use autonoe_core::{EngineError, Failure, InvalidValue, RunId, RunOutcome};
use serde::{Deserialize, Serialize};

use super::outcome::spent_by;
use crate::{Accounts, AggregatedResult, HarnessId};

/// What a fleet came to, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetReport {
    /// What its members came to, each and all together.
    pub result: AggregatedResult,
    /// Why it ended before its strategy was done, if it did. Then it has not succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// The accounts as they are now: members are settled.
    pub accounts: Accounts,
    /// Members that were told to stop and had not ended in time: they may still be at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<HarnessId>,
}

impl FleetReport {
    /// Makes what the run of such a fleet came to. The report is what it gave.
    pub fn outcome(&self) -> RunOutcome {
        let outcome = match &self.cut_short {
            _ if self.result.success => RunOutcome::succeeded(serde_json::Value::Null),
            Some(reason @ CutShort::Cancelled) => RunOutcome::cancelled(reason.to_string()),
            Some(reason) => RunOutcome::failed(Failure::permanent("cut_short", reason.to_string())),
            None => {
                let why = "the members did not do what was asked of the fleet";
                RunOutcome::failed(Failure::permanent("strategy_failed", why))
            }
        };
        // A report is always JSON; should one be none, the ending still stands.
        let output = serde_json::to_value(self).unwrap_or_default();
        outcome
            .with_output(output)
            .with_spent(spent_by(&self.result.results))
    }
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
    /// A value with which no fleet could do anything.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The engine does not answer.
    #[error("the run {run} cannot be looked for")]
    Engine {
        /// The run that was asked about.
        run: RunId,
        /// What the engine says.
        source: EngineError,
    },
}
