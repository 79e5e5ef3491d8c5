//! [`LedgerError`], the rejection of a command or a record by the ledger.

use crate::ledger::{DeliverableId, DeliverableStatus};

/// Error: the ledger rejected a command or a record.
///
/// The ledger is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The id is already in use, or appears twice in one batch.
    #[error("the id {id} is already in use or was given twice; give each deliverable its own id")]
    DuplicateId {
        /// The duplicate id.
        id: DeliverableId,
    },
    /// No deliverable has this id.
    #[error("there is no deliverable {id}")]
    NotFound {
        /// The requested id.
        id: DeliverableId,
    },
    /// The status change is not legal.
    #[error("deliverable {id} is {from} and cannot become {to}; set it to pending first")]
    IllegalTransition {
        /// The deliverable.
        id: DeliverableId,
        /// Current status.
        from: DeliverableStatus,
        /// Requested status.
        to: DeliverableStatus,
    },
    /// The deliverable was dropped from the specification, so its status is final.
    #[error("deliverable {id} is deprecated and cannot change any more")]
    Deprecated {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The deliverable has no description.
    #[error("deliverable {id} needs a description")]
    BlankDescription {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The deliverable has no criteria, or a blank one.
    #[error("deliverable {id} needs at least one acceptance criterion, and none may be blank")]
    NoCriteria {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The batch contains no deliverables.
    #[error("the list of deliverables is empty; give at least one")]
    EmptyBatch,
    /// The record has both status flags set.
    #[error("deliverable {id} is both passed and blocked")]
    PassedAndBlocked {
        /// The deliverable.
        id: DeliverableId,
    },
}
