//! JSON output of `autonoe status`.

use autonoe_core::DeliverableStatus;
use autonoe_core::ledger::LedgerState;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `autonoe status --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status<'a> {
    /// Whether there is a ledger at all.
    exists: bool,
    /// Number of deliverables, without deprecated ones.
    total: usize,
    /// Number of passed deliverables.
    passed: usize,
    /// Number of blocked deliverables.
    blocked: usize,
    /// Number of deliverables that are neither passed nor blocked.
    pending: usize,
    /// Number of deliverables that a sync has verified.
    verified: usize,
    /// Number of deprecated deliverables.
    deprecated: usize,
    /// The day on which the ledger was created.
    created_at: Option<Date>,
    /// The day of the last change of the ledger.
    updated_at: Option<Date>,
    /// All deliverables, including deprecated ones, in the order of their creation.
    deliverables: Vec<Row<'a>>,
}

/// A deliverable and its status.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverableRow")]
struct Row<'a> {
    id: &'a str,
    /// The description.
    description: &'a str,
    /// Its acceptance criteria.
    acceptance_criteria: &'a [String],
    status: DeliverableStatus,
    /// Whether a sync has verified it.
    verified: bool,
    /// The day on which it was deprecated.
    deprecated_at: Option<Date>,
}

impl<'a> Status<'a> {
    pub(super) fn new(state: Option<&'a LedgerState>) -> Self {
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
