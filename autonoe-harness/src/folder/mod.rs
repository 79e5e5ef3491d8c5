//! Folder of a member: its order, its journal and the files derived from it, its inbox and
//! requests.

mod error;
mod file;
mod inbox;
mod journal;
mod lock;
mod log;
mod member_folder;
mod order;
mod rebuild;
mod status;
mod text_files;

pub use error::FolderError;
pub use inbox::PostedInstruction;
pub use journal::{MemberFact, MemberJournalEntry};
pub use log::MemberLog;
pub use member_folder::MemberFolder;
pub use status::{MemberStatus, MemberStatusRecord, MemberView, ServingProcess};

pub(crate) use journal::{JournalEntry, MemberJournal, MemberLogFile, open_log};
pub(crate) use lock::FolderLock;
pub(crate) use order::SubmitOutcome;
pub(crate) use status::{as_lower_bound, status_of};
pub(crate) use text_files::TextFiles;
