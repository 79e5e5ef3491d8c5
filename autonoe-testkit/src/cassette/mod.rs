//! Sessions recorded once and replayed in tests.

mod failure;
mod file;
mod format;
mod playback;
mod recorder;
mod redaction;
mod replayer;
mod responses;

pub use failure::RecordedFailure;
pub use file::CassetteError;
pub use format::{Cassette, RecordedEnd, RecordedItem, RecordedSession, RecordedTurn};
pub use recorder::Recorder;
pub use replayer::Replayer;
