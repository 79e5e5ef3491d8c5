//! Session host of a project, for a remote engine.

mod fence;
mod host;
mod recorded_ledger;
mod recording_journal;
mod run_end;
mod session_record;
mod session_runner;

pub use host::ProjectSessionHost;
