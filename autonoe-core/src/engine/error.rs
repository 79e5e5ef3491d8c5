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
    /// The engine could not be reached, or what it keeps could not be read or written. Who asks again
    /// may be answered. Nobody knows whether what was asked for was done.
    #[error("the engine failed: {reason}")]
    Failed {
        /// What it was doing, for people.
        reason: String,
        /// What went wrong there.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Who would ask the engine is gone for good: who asks again here is told the same. Nobody knows
    /// whether what was asked for was done, and runs may go on.
    #[error("the engine cannot be asked any more: {reason}")]
    Gone {
        /// What became of who asked it, for people.
        reason: String,
        /// What went wrong there.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl EngineError {
    /// Tells whether nobody answered, so that nobody knows whether what was asked for was done.
    ///
    /// ```
    /// use autonoe_core::{EngineError, RunId};
    ///
    /// assert!(!EngineError::Unknown(RunId::new("shop-1")).is_no_answer());
    /// ```
    pub fn is_no_answer(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Gone { .. })
    }
}
