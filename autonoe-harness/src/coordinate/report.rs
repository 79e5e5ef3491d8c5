//! [`FleetReport`]: the outcome of a fleet, and the errors of a coordinator.

use autonoe_core::RunId;
use autonoe_core::engine::{EngineError, RunOutcome};
use autonoe_core::event::{Failure, InvalidValue};
use serde::{Deserialize, Serialize};

use crate::budget::Account;
use crate::isolation::WorkLocation;
use crate::strategy::{Decision, Fleet, MemberId, MemberReport, spent_by};

/// Outcome of a fleet: the results of its members, and the state of their work.
///
/// A coordinator decides about members only. `FleetRun` merges the work of a winner, and adds
/// `stopped`, `merged`, `not_merged` and `unmerged_work`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetReport {
    /// The `type` of the strategy.
    pub strategy: String,
    /// Whether it succeeded, according to the strategy. A fleet whose winner cannot be merged has
    /// not succeeded.
    pub success: bool,
    /// The results of the started members, in the order of the members.
    pub results: Vec<MemberReport>,
    /// The members that were never started.
    pub not_started: Vec<MemberId>,
    /// The winning member, if there is one.
    pub winner: Option<MemberId>,
    /// The joined output, or that of the winner.
    pub aggregated_output: Option<String>,
    /// The reason why the fleet ended before its strategy had finished. Set only for a fleet that
    /// did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// The account of the fleet. Its members are settled.
    pub account: Account,
    /// Members that were stopped and did not end in time: they may still be running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstopped: Vec<MemberId>,
    /// The reason of a stop request, as given by the requester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The commit of the base that has the work of the winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The reason why the work of the winner is not in the base. Then the fleet has not succeeded,
    /// and the work of all members is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_merged: Option<String>,
    /// The locations of work that was not merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged_work: Vec<WorkLocation>,
}

impl FleetReport {
    /// Creates the report of a fleet with the decision of its strategy. Its account is unlimited.
    pub fn new(strategy: impl Into<String>, fleet: &Fleet, decision: Decision) -> Self {
        Self {
            strategy: strategy.into(),
            success: decision.success,
            results: fleet.results().cloned().collect(),
            not_started: fleet.waiting().cloned().collect(),
            winner: decision.winner,
            aggregated_output: decision.output,
            cut_short: None,
            account: Account::default(),
            unstopped: Vec::new(),
            stopped: None,
            merged: None,
            not_merged: None,
            unmerged_work: Vec::new(),
        }
    }

    /// Returns the result of the winner, if there is one.
    pub fn winning_result(&self) -> Option<&MemberReport> {
        let winner = self.winner.as_ref()?;
        self.results.iter().find(|result| result.id == *winner)
    }

    /// Returns the outcome of a run of this fleet. Its output is the report.
    pub fn outcome(&self) -> RunOutcome {
        let outcome = match &self.cut_short {
            _ if self.success => RunOutcome::succeeded(serde_json::Value::Null),
            Some(reason @ CutShort::Cancelled) => RunOutcome::cancelled(reason.to_string()),
            Some(reason) => RunOutcome::failed(Failure::permanent("cut_short", reason.to_string())),
            None => {
                let message = "the members did not reach the goal of the fleet";
                RunOutcome::failed(Failure::permanent("strategy_failed", message))
            }
        };
        // A report always serialises. If it ever does not, the outcome is still correct.
        let output = serde_json::to_value(self).unwrap_or_default();
        outcome
            .with_output(output)
            .with_spent(spent_by(&self.results))
    }
}

/// Reason why a fleet ended before its strategy had finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "camelCase")]
#[non_exhaustive]
pub enum CutShort {
    /// The fleet was cancelled.
    #[error("the fleet was cancelled")]
    Cancelled,
    /// The time limit of the fleet has passed.
    #[error("the fleet reached its time limit")]
    TimedOut,
    /// A member cannot be paid, and no running member could return budget.
    #[error("cannot start the member {member}: {missing}")]
    InsufficientBudget {
        /// The member.
        member: MemberId,
        /// The missing budget, for people.
        #[serde(alias = "why")]
        missing: String,
    },
    /// The strategy neither starts a member nor finishes.
    #[error("the strategy makes no progress: it neither starts a member nor finishes")]
    StrategyStalled,
}

/// Error of a coordinator. Started runs keep running, and the next coordinator of the fleet finds
/// them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinationError {
    /// The name cannot be part of run IDs.
    #[error("{0:?} is not a valid fleet name: use letters, digits, `-` and `_`")]
    FleetName(String),
    /// A value that no fleet can work with.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The engine call failed.
    #[error("cannot look up the run {run}")]
    Engine {
        /// The run that was queried.
        run: RunId,
        /// The error of the engine.
        source: EngineError,
    },
}
