//! Session host of a project, for a remote engine.

mod fence;
mod host;
mod recording_journal;
mod run_end;
mod session_runner;

pub use host::ProjectSessionHost;
