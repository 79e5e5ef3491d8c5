//! [`Engine`], the interface to execute runs, and its [`EngineError`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{Placement, RunInstruction, RunOutcome, RunSpec, RunView};
use crate::time::RunId;

/// Executes runs, in this process or on other machines.
///
/// An implementation must guarantee:
/// - one run per ID, however often it is submitted: the same specification again is the same run, a
///   different one under the same ID is refused;
/// - a stable outcome: callers that wait late, twice or after a restart get the same one, as far as
///   the engine promises to survive a restart;
/// - an end for every submitted run. If its worker crashed or panicked, the run has failed with
///   that error; a missing answer is never a success;
/// - a cancelled run ends together with everything that it started; a run that ended before keeps
///   its outcome;
/// - instructions are delivered in the order of the calls, each once.
///
/// A caller may drop any future: the request either takes effect or not, but never in part. Check
/// an implementation with `autonoe_testkit::conformance::engine`.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Starts a run and returns without waiting for it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Conflict`] if there is another run with that ID.
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError>;

    /// Cancels a run. [`wait`](Self::wait) returns when it has ended. An ended run stays unchanged.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`].
    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError>;

    /// Sends an instruction to a run.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`], or [`EngineError::Ended`]: an instruction that no agent would read
    /// is refused.
    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError>;

    /// Returns the status of a run.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`].
    async fn status(&self, run: &RunId) -> Result<RunView, EngineError>;

    /// Waits until a run has ended together with everything that it started.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`].
    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<E: Engine + ?Sized> Engine for Arc<E> {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        (**self).submit(run, place).await
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        (**self).cancel(run, reason).await
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        (**self).instruct(run, instruction).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        (**self).status(run).await
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        (**self).wait(run).await
    }
}

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
