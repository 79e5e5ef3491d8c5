//! What an engine cannot do.

use crate::domain::RunId;

/// What an engine cannot do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(RunId),
    /// There is a run of that id that is to do something else.
    #[error("there is another run {0} already, which is to do something else")]
    Conflict(RunId),
    /// The run has ended and takes nothing more.
    #[error("the run {0} has ended")]
    Ended(RunId),
    /// The engine cannot carry out such a run, or not there.
    #[error("the run {run} cannot be carried out: {reason}")]
    Refused {
        /// The run.
        run: RunId,
        /// Why, for people.
        reason: String,
    },
    /// The engine could not be reached, or what it keeps could not be read or written.
    #[error("the engine failed: {reason}")]
    Failed {
        /// What it was doing, for people.
        reason: String,
        /// What went wrong there.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}
