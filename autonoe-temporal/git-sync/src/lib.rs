//! Git sync: moves projects between hosts as branches of a shared repository.

mod agents_repo;
mod checkout;
mod commit_trailer;
mod error;
mod host;
mod integration_branch;
mod publish;
mod remote;
mod remote_state;
mod snapshot;
mod sync_refs;
mod sync_repo;
mod synced_project;
mod task_start;

pub use error::SyncError;
pub use host::SyncedSessionHost;
pub use integration_branch::{IntegrationBranch, MergeOutcome};
pub use remote::SyncRemote;
pub use sync_refs::SYNC_REPO;
pub use synced_project::SyncedProject;
