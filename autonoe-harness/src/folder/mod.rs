//! Folder of a member: its order, its journal and the files derived from it, its inbox and
//! requests.

mod file;
mod inbox;
mod journal;
mod log;
mod member_folder;
mod order;
mod rebuild;
mod status;
mod text_files;

pub use inbox::PostedInstruction;
pub use journal::{MemberFact, MemberJournalEntry};
pub use log::MemberLog;
pub use member_folder::{FolderError, MemberFolder};
pub use status::{MemberStatus, MemberStatusRecord, MemberView, ServingProcess};

pub(crate) use file::{FolderLock, require_regular_file};
pub(crate) use journal::{
    JournalEntry, MemberJournal, MemberLogFile, append_entry, events_in, open_log, read_log,
};
pub(crate) use order::SubmitOutcome;
pub(crate) use status::{as_lower_bound, status_of};
pub(crate) use text_files::TextFiles;
