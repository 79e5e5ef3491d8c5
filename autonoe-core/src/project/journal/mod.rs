//! Journal file `.autonoe/journal.jsonl`: writing, reading and following it.

mod file_journal;
mod index;
mod page;
mod reader;
mod run_history;
mod tail;
mod timeline;

pub use file_journal::{FileJournal, JournalEntry};
pub use index::{JournalIndex, RunEntries};
pub use page::{JOURNAL_JOB, JournalPage, JournalPageRequest};
pub use reader::{Journal, JournalReadError};
pub(super) use reader::{corrupt, unread};
pub use run_history::{RunHistory, RunStopReason};
pub use tail::JournalTail;
pub use timeline::{
    ChangeEntry, CostPoint, DeniedEntry, IdleReason, IdleSpan, ProgressPoint, RestoredEntry,
    RunTimeline, RunTimelineBuilder, SessionSpan,
};
