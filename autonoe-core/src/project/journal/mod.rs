//! Journal file `.autonoe/journal.jsonl`: writing, reading and following it.

mod entry;
mod index;
mod page;
mod read_error;
mod reader;
mod run_history;
mod session_history;
mod tail;
mod timeline;
mod writer;

pub use entry::JournalEntry;
pub use index::{JournalIndex, RunEntries};
pub use page::{JOURNAL_JOB, JournalPage, JournalPageRequest};
pub use read_error::JournalReadError;
pub(super) use read_error::{corrupt, unread};
pub use reader::Journal;
pub use run_history::{RunHistory, RunHistoryBuilder, RunStopReason};
pub use session_history::{BlockedCall, SessionHistory};
pub use tail::JournalTail;
pub use timeline::{
    ChangeEntry, CostPoint, DeniedEntry, IdleReason, IdleSpan, ProgressPoint, RestoredEntry,
    RunTimeline, RunTimelineBuilder, SessionSpan,
};
pub use writer::FileJournal;
