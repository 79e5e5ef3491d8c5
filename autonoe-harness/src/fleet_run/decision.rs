//! Recorded decisions of a fleet's coordinator.

use serde::{Deserialize, Serialize};

use crate::coordinate::FleetReport;
use crate::state::{DecisionRecord, StateError};

/// A decision of a coordinator, in addition to the events of its fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "decision",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum FleetDecision {
    /// The fleet has spans. Later coordinators put theirs below that of the first.
    Traced {
        /// The `traceparent` of the span of the fleet.
        traceparent: String,
        /// The `tracestate`, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tracestate: Option<String>,
    },
    /// The strategy has finished. The first decision of this kind is final.
    Decided(Box<FleetReport>),
    /// The work of the winner is in the base.
    Merged {
        /// The commit of the base that contains it.
        commit: String,
    },
    /// The fleet has ended, and this is its report.
    Concluded(Box<FleetReport>),
}

impl FleetDecision {
    /// Parses the decisions of this kind among the records, in order.
    ///
    /// # Errors
    ///
    /// One of them cannot be parsed.
    pub(super) fn parse_all(records: &[DecisionRecord]) -> Result<Vec<Self>, StateError> {
        let own = records
            .iter()
            .filter(|it| it.decision.get("decision").is_some());
        let read = own.map(|record| {
            serde_json::from_value(record.decision.clone()).map_err(|error| {
                let number = record.number;
                StateError::Invalid(format!(
                    "cannot parse decision {number} of a fleet: {error}"
                ))
            })
        });
        read.collect()
    }
}
