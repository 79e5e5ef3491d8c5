//! The journal in `.autonoe/journal.jsonl`.

mod entry;
mod index;
mod lines;
mod pages;
mod read_error;
mod reader;
mod session_story;
mod story;
mod tail;
mod timeline;
mod writer;

pub use entry::JournalEntry;
pub use index::{JournalIndex, RunEntries};
pub use pages::{JOURNAL_JOB, JournalAsk, JournalPage};
pub use read_error::JournalReadError;
pub use reader::Journal;
pub use session_story::{BlockedCall, SessionStory};
pub use story::{RunStory, RunStoryBuilder, WhyStopped};
pub use tail::JournalTail;
pub use timeline::{
    ChangeEntry, CostPoint, DeniedEntry, Idle, IdleSpan, ProgressPoint, RestoredEntry, RunTimeline,
    SessionSpan,
};
pub use writer::FileJournal;
