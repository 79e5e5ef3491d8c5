//! [`EngineError`], the error of an engine.

use crate::time::RunId;

/// An error of an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(RunId),
    /// There is a run with the same ID and a different specification.
    #[error("there is already a run {0} with a different specification")]
    Conflict(RunId),
    /// The run has ended and accepts no more requests.
    #[error("the run {0} has ended")]
    Ended(RunId),
    /// The engine cannot execute such a run, or not on that host.
    #[error("the run {run} cannot be executed: {reason}")]
    Refused {
        /// The run.
        run: RunId,
        /// The reason, for people.
        reason: String,
    },
    /// The engine is unreachable, or its state could not be read or written. A retry may succeed.
    /// It is unknown whether the request took effect.
    #[error("the engine failed: {reason}")]
    Failed {
        /// The failed operation, for people.
        reason: String,
        /// The cause.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl EngineError {
    /// Returns whether there was no answer, so that it is unknown whether the request took effect.
    ///
    /// ```
    /// use autonoe_core::engine::EngineError;
    /// use autonoe_core::RunId;
    ///
    /// assert!(!EngineError::Unknown(RunId::new("shop-1")).is_unknown_result());
    /// ```
    pub fn is_unknown_result(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}
