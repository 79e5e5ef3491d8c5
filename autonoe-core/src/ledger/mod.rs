//! The ledger of deliverables, the repository that stores it, and the deliverable tools.

mod deliverable;
mod deliverable_id;
mod fatal_signal;
#[allow(clippy::module_inception)]
mod ledger;
mod ledger_state;
pub(crate) mod ledger_store;
mod ledger_watch;
mod repository;
mod tools;

pub use deliverable::{Deliverable, DeliverableStatus, LedgerError};
pub use deliverable_id::{DeliverableId, InvalidDeliverableId};
pub(crate) use fatal_signal::FatalSignal;
pub use ledger::{Ledger, LedgerCounts, LedgerHash, StatusChange};
pub use ledger_state::{LedgerState, LedgerView, VerificationTracker};
pub use ledger_store::{LedgerStore, UpdateError};
pub(crate) use ledger_watch::LedgerWatch;
pub use ledger_watch::{ForeignChange, ForeignLedger};
pub use repository::{
    DeliverableRepository, Fence, MemoryRepository, OwnedLedger, RepositoryError,
    RepositoryErrorKind, Revision, SavedLedger, Snapshot,
};
pub(crate) use tools::DELIVERABLE_TOOLS;
pub use tools::deliverable_tools;
