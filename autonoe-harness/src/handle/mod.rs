//! How a sub-harness is watched and led, wherever it runs.

mod error;
mod local;
mod notes;
mod port;
mod process;

pub use error::HandleError;
pub use local::LocalHandle;
pub use notes::HarnessNotes;
pub use port::{DEFAULT_KILL_TIMEOUT, DEFAULT_LOG_LINES, HarnessHandle};
pub use process::ProcessHandle;
