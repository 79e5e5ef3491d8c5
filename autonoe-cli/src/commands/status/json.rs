//! The ledger for other programs.

use autonoe_core::{DeliverableStatus, LedgerState};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

/// What `autonoe status --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status<'a> {
    /// Whether there is a ledger at all.
    exists: bool,
    /// How many deliverables count: all but the deprecated ones.
    total: usize,
    /// How many of them passed.
    passed: usize,
    /// How many of them are blocked.
    blocked: usize,
    /// How many of them are neither.
    pending: usize,
    /// How many of them a sync has verified.
    verified: usize,
    /// How many are no longer asked for.
    deprecated: usize,
    /// The day on which the ledger was begun.
    created_at: Option<Date>,
    /// The day of its last change.
    updated_at: Option<Date>,
    /// All deliverables, also the deprecated ones, in the order of their creation.
    deliverables: Vec<Row<'a>>,
}

/// A deliverable and how far it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverableRow")]
struct Row<'a> {
    id: &'a str,
    /// What a user gets.
    description: &'a str,
    /// What shows that it is done.
    acceptance_criteria: &'a [String],
    status: DeliverableStatus,
    /// Whether a sync has verified it.
    verified: bool,
    /// The day since which it is no longer asked for.
    deprecated_at: Option<Date>,
}

impl<'a> Status<'a> {
    pub(super) fn of(state: Option<&'a LedgerState>) -> Self {
        let view = state.map(LedgerState::view).unwrap_or_default();
        let ledger = state.map(|state| &state.ledger);
        let deliverables = state.into_iter().flat_map(|state| {
            let all = state.ledger.deliverables().iter();
            all.map(|deliverable| Row {
                id: deliverable.id().as_str(),
                description: deliverable.description(),
                acceptance_criteria: deliverable.acceptance_criteria(),
                status: deliverable.status(),
                verified: state.verification.is_verified(deliverable.id()),
                deprecated_at: deliverable.deprecated_at(),
            })
        });
        Self {
            exists: state.is_some(),
            total: view.counts.total,
            passed: view.counts.passed,
            blocked: view.counts.blocked,
            pending: view.counts.pending(),
            verified: view.verified,
            deprecated: view.counts.deprecated,
            created_at: ledger.and_then(|ledger| ledger.created_at()),
            updated_at: ledger.and_then(|ledger| ledger.updated_at()),
            deliverables: deliverables.collect(),
        }
    }
}
