//! [`InstructionSelector`], which chooses the instruction of each session.

use std::sync::Arc;

use async_trait::async_trait;

use crate::event::InstructionName;
use crate::ledger::LedgerView;
use crate::run::InstructionError;
use crate::run::Workflow;
use crate::time::Mode;

/// Chooses the instruction of each session.
///
/// A selector must answer in bounded time. The run calls it once before each session, also before
/// an interrupted session that runs again. An error or a panic ends the run. The name decides which
/// deliverable tools and which model the session has; a custom name has no deliverable tools. The
/// selector does not decide when the work is done: that is up to the [`Workflow`] of the mode.
///
/// [`Workflow`] is the default selector. Closures `Fn(&SelectionContext) -> InstructionName`
/// implement this trait:
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::run::{InstructionSelector, SelectionContext};
/// use autonoe_core::Mode;
///
/// let review_every_third = |context: &SelectionContext| match context.session % 3 {
///     0 => InstructionName::new("review"),
///     _ => context.default_instruction(),
/// };
///
/// # futures::executor::block_on(async {
/// let mut context = SelectionContext::new(Mode::Run);
/// assert_eq!(review_every_third.select(&context).await?, InstructionName::Initializer);
///
/// context.session = 3;
/// assert_eq!(review_every_third.select(&context).await?.as_str(), "review");
/// # Ok::<(), autonoe_core::run::InstructionError>(())
/// # }).expect("it works");
/// ```
#[async_trait]
pub trait InstructionSelector: Send + Sync {
    /// Returns the instruction of the session that `context` describes.
    ///
    /// # Errors
    ///
    /// No instruction can be chosen. The session fails, and the run ends with
    /// `instruction_missing`.
    async fn select(&self, context: &SelectionContext)
    -> Result<InstructionName, InstructionError>;
}

/// State of a run before a session, for an [`InstructionSelector`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectionContext {
    /// The mode of the run.
    pub mode: Mode,
    /// The number of the session, from 1.
    pub session: u32,
    /// Iterations so far. A session that the quota stopped is not an iteration.
    pub iterations: u32,
    /// The ledger before the session.
    pub ledger: LedgerView,
    /// Whether a `sync` session of this run has completed.
    pub planned: bool,
}

impl SelectionContext {
    /// Creates the context of the first session of a run with an empty ledger.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            session: 1,
            iterations: 0,
            ledger: LedgerView::default(),
            planned: false,
        }
    }

    /// Returns the instruction that the [`Workflow`] of the mode selects.
    pub fn default_instruction(&self) -> InstructionName {
        Workflow::new(self.mode).instruction(&self.ledger, self.planned)
    }
}

#[async_trait]
impl InstructionSelector for Workflow {
    async fn select(
        &self,
        context: &SelectionContext,
    ) -> Result<InstructionName, InstructionError> {
        Ok(self.instruction(&context.ledger, context.planned))
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: InstructionSelector + ?Sized> InstructionSelector for Arc<S> {
    async fn select(
        &self,
        context: &SelectionContext,
    ) -> Result<InstructionName, InstructionError> {
        (**self).select(context).await
    }
}

#[async_trait]
impl<F> InstructionSelector for F
where
    F: Fn(&SelectionContext) -> InstructionName + Send + Sync,
{
    async fn select(
        &self,
        context: &SelectionContext,
    ) -> Result<InstructionName, InstructionError> {
        Ok(self(context))
    }
}
