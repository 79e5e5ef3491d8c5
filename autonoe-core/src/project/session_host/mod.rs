//! Session host of a project, for a remote engine.

mod fence;
mod host;
mod recording_journal;
mod run_end;
mod session_runner;

pub use host::ProjectSessionHost;

use crate::event::{Failure, Retry};

fn unusable(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from_error("project_unusable", error, Retry::Permanent)
}
