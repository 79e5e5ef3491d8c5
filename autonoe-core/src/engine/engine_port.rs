//! [`Engine`], the interface to execute runs.

use std::sync::Arc;

use async_trait::async_trait;

use super::{EngineError, Placement, RunInstruction, RunOutcome, RunSpec, RunView};
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
