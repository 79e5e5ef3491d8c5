//! What a fleet came to, and what is written down on the way there.

use serde::{Deserialize, Serialize};

use crate::{
    Accounts, AggregatedResult, CutShort, DecisionRecord, HarnessId, StateError, WorkPlace,
};

/// What a fleet came to. Whoever runs it again is given the same.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetOutcome {
    /// What its members came to, each and all together. Where the work of a winner could not be
    /// merged, it is no success.
    pub result: AggregatedResult,
    /// Why it ended before its strategy was done, if it did.
    pub cut_short: Option<CutShort>,
    /// Why it was stopped, in the words of who asked for it.
    pub stopped: Option<String>,
    /// Members that were told to stop and had not ended in time.
    pub left_behind: Vec<HarnessId>,
    /// The commit that the base was at when the work of the winner was in it.
    pub merged: Option<String>,
    /// Why the work of the winner is not in the base. It is kept, and so is that of the others.
    pub not_merged: Option<String>,
    /// Where work is that was not merged.
    pub kept: Vec<WorkPlace>,
    /// What was spent; `None` if nothing was kept of that.
    pub accounts: Option<Accounts>,
}

/// What a coordinator decides beside what events tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "decision",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum FleetDecision {
    /// The fleet has spans. Later coordinators put theirs below the one of the first.
    Traced {
        /// The `traceparent` of the span of the fleet.
        traceparent: String,
        /// The `tracestate`, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tracestate: Option<String>,
    },
    /// The strategy is done. Nobody decides that again.
    Decided(Box<Decided>),
    /// The work of the winner is in the base.
    Merged {
        /// The commit that the base was at then.
        commit: String,
    },
    /// Nothing is left to do but to say so.
    Concluded(Concluded),
}

/// What the strategy came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decided {
    pub(super) result: AggregatedResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cut_short: Option<CutShort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) left_behind: Vec<HarnessId>,
}

/// What became of the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Concluded {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) merged: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) not_merged: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) kept: Vec<WorkPlace>,
}

impl FleetDecision {
    /// Reads those out of what was written down that are decisions of this kind, in order.
    ///
    /// # Errors
    ///
    /// One of them is not understood.
    pub(super) fn all_of(records: &[DecisionRecord]) -> Result<Vec<Self>, StateError> {
        let own = records
            .iter()
            .filter(|it| it.decision.get("decision").is_some());
        let read = own.map(|record| {
            serde_json::from_value(record.decision.clone()).map_err(|error| {
                let number = record.number;
                StateError::Invalid(format!("the decision {number} of a fleet is none: {error}"))
            })
        });
        read.collect()
    }
}

impl FleetOutcome {
    pub(super) fn of(
        result: AggregatedResult,
        decided: Decided,
        concluded: Concluded,
        accounts: Option<Accounts>,
    ) -> Self {
        Self {
            result,
            cut_short: decided.cut_short,
            stopped: decided.stopped,
            left_behind: decided.left_behind,
            merged: concluded.merged,
            not_merged: concluded.not_merged,
            kept: concluded.kept,
            accounts,
        }
    }

    /// Puts together what a fleet came to that has ended.
    pub(super) fn again(
        result: AggregatedResult,
        decisions: &[DecisionRecord],
        accounts: Option<Accounts>,
    ) -> Result<Self, StateError> {
        let mut decided = Decided {
            result: result.clone(),
            cut_short: None,
            stopped: None,
            left_behind: Vec::new(),
        };
        let mut concluded = Concluded::default();
        for decision in FleetDecision::all_of(decisions)? {
            match decision {
                FleetDecision::Decided(found) => decided = *found,
                FleetDecision::Concluded(found) => concluded = found,
                FleetDecision::Merged { .. } | FleetDecision::Traced { .. } => {}
            }
        }
        Ok(Self::of(result, decided, concluded, accounts))
    }
}
