//! The journal in `.autonoe/journal.jsonl`.

mod entry;
mod reader;
mod story;
mod writer;

pub use entry::JournalEntry;
pub use reader::{Journal, JournalReadError};
pub use story::{RunStory, SessionStory, WhyStopped};
pub use writer::FileJournal;
