//! The folder of a sub-harness: what it is to do, how it stands, and how it is reached.

mod alerts;
mod error;
mod file;
mod fitting;
mod inbox;
mod journal;
mod lock;
mod log;
mod order;
mod place;
mod requests;
mod state;
mod text_files;
mod view;

pub use error::FolderError;
pub use inbox::PostedInstruction;
pub use journal::{HarnessFact, HarnessJournalEntry};
pub use log::HarnessLog;
pub use place::HarnessFolder;
pub use state::{HarnessState, HarnessStatus, ServingProcess};
pub use view::HarnessView;

pub(crate) use journal::HarnessJournal;
pub(crate) use lock::FolderLock;
pub(crate) use order::Ordered;
pub(crate) use state::status_of;
pub(crate) use text_files::TextFiles;
pub(crate) use view::at_least;
