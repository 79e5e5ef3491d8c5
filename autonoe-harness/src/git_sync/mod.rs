//! Git sync: moves projects between hosts as a branch of a shared repository.

mod agents_repo;
mod checkout;
mod commit_trailer;
mod error;
mod host;
mod publish;
mod remote;
mod remote_state;
mod snapshot;
mod sync_refs;
mod sync_repo;
mod synced_project;

pub use error::SyncError;
pub use host::SyncedSessionHost;
pub use remote::SyncRemote;
pub use synced_project::{SyncedProject, UnpublishedWork};
