//! The project on disk.

mod error;
mod file_repository;
mod journal;
mod layout;
mod run_lock;
mod status_file;
mod status_record;

pub use error::ProjectError;
pub use file_repository::FileDeliverableRepository;
pub use journal::{
    FileJournal, Journal, JournalEntry, JournalReadError, RunStory, SessionStory, WhyStopped,
};
pub use layout::Project;
pub use run_lock::{RunLock, RunLockHeld};
pub use status_record::StatusRecord;
