//! Why a ledger refuses a command or a file.

use super::{DeliverableId, DeliverableStatus};

/// A command that the ledger refused, or a record that it cannot hold.
///
/// Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The id is taken, in the ledger or twice in one batch.
    #[error("the id {id} is taken or stands twice; give each deliverable its own id")]
    DuplicateId {
        /// The id that is taken.
        id: DeliverableId,
    },
    /// No deliverable has this id.
    #[error("there is no deliverable {id}")]
    NotFound {
        /// The id that was looked for.
        id: DeliverableId,
    },
    /// The change of status is not legal.
    #[error("deliverable {id} is {from} and cannot become {to}; set it to pending first")]
    IllegalTransition {
        /// The deliverable.
        id: DeliverableId,
        /// Its status.
        from: DeliverableStatus,
        /// The status that was asked for.
        to: DeliverableStatus,
    },
    /// The specification dropped the deliverable, so its status is history.
    #[error("deliverable {id} is deprecated and no longer changes")]
    Deprecated {
        /// The deliverable.
        id: DeliverableId,
    },
    /// A deliverable without a description.
    #[error("deliverable {id} needs a description")]
    BlankDescription {
        /// The deliverable.
        id: DeliverableId,
    },
    /// A deliverable without criteria, or with a blank one.
    #[error("deliverable {id} needs at least one acceptance criterion, and none may be blank")]
    NoCriteria {
        /// The deliverable.
        id: DeliverableId,
    },
    /// A batch without deliverables.
    #[error("there is nothing to create: give at least one deliverable")]
    EmptyBatch,
    /// A record that claims two statuses at once.
    #[error("deliverable {id} is both passed and blocked")]
    PassedAndBlocked {
        /// The deliverable.
        id: DeliverableId,
    },
}
