//! Sessions recorded once and replayed in tests.

mod answer;
mod format;
mod playback;
mod recorder;
mod redaction;
mod replay_state;
mod replayer;

pub use format::{
    Cassette, CassetteError, RecordedEnd, RecordedFailure, RecordedItem, RecordedSession,
    RecordedTurn,
};
pub use recorder::Recorder;
pub use replayer::Replayer;
