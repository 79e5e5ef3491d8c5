//! The ledger of deliverables, the repository that stores it, and the deliverable tools.

mod deliverable;
mod deliverable_id;
mod foreign_ledger;
// The main type has its own file.
mod fatal_signal;
#[allow(clippy::module_inception)]
mod ledger;
mod ledger_counts;
mod ledger_error;
mod ledger_hash;
mod ledger_state;
pub(crate) mod ledger_store;
mod ledger_watch;
mod memory_repository;
mod repository;
mod tools;
mod verification;

pub use deliverable::{Deliverable, DeliverableStatus};
pub use deliverable_id::{DeliverableId, InvalidDeliverableId};
pub(crate) use fatal_signal::FatalSignal;
pub use foreign_ledger::{ForeignChange, ForeignLedger};
pub use ledger::{Ledger, StatusChange};
pub use ledger_counts::LedgerCounts;
pub use ledger_error::LedgerError;
pub use ledger_hash::LedgerHash;
pub use ledger_state::{LedgerState, LedgerView};
pub use ledger_store::{LedgerStore, UpdateError};
pub(crate) use ledger_watch::LedgerWatch;
pub use memory_repository::MemoryRepository;
pub use repository::{
    DeliverableRepository, Fence, OwnedLedger, RepositoryError, RepositoryErrorKind, Revision,
    SavedLedger, Snapshot,
};
pub(crate) use tools::DELIVERABLE_TOOLS;
pub use tools::deliverable_tools;
pub use verification::VerificationTracker;
