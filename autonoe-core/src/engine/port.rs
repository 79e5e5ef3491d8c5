//! What drives runs.

use std::sync::Arc;

use async_trait::async_trait;

use super::{EngineError, Placement, RunInstruction, RunOutcome, RunSpec, RunView};
use crate::domain::RunId;

/// Drives runs, in this process or on other machines.
///
/// An implementer owes:
/// - one run for an id, however often it is submitted: the same specification again is the same
///   run, another one under the same id is refused;
/// - an outcome that stays: who waits late, twice or after a restart gets the same one, as far as
///   the engine promises to survive one;
/// - an end for every run that was submitted, also when what carried it out broke or panicked:
///   then it failed, and says so; no answer is never a success;
/// - a cancelled run that ends with all that it started; a run that ended before keeps its outcome;
/// - instructions in the order in which they were given, each told once.
///
/// A caller may drop any future of it: what was asked for happens or not, but never half. Check
/// yours with `autonoe_testkit::conformance::engine`.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Has a run carried out, and returns without waiting for it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Conflict`] if there is another run of that id.
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError>;

    /// Ends a run. That it ended is told by [`wait`](Self::wait). A run that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`].
    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError>;

    /// Tells a run something.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`], or [`EngineError::Ended`]: an instruction that nobody will read is
    /// refused.
    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError>;

    /// Looks at a run.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`].
    async fn status(&self, run: &RunId) -> Result<RunView, EngineError>;

    /// Waits until a run has ended with all that it started.
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
