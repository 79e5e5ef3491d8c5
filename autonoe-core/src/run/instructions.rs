//! Instructions of sessions: [`InstructionSelector`] and [`InstructionSource`].

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::event::{Failure, InstructionName, Retry};
use crate::ledger::LedgerView;
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

/// Provides the texts that sessions start with.
///
/// An implementation must return the whole text of a name that it knows, and otherwise an error
/// that names the instruction: a session never starts with a blank or invented instruction. The run
/// calls it once before each session, so that a changed text takes effect in the next one.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::run::{FixedInstructions, InstructionSource};
///
/// # futures::executor::block_on(async {
/// let texts = FixedInstructions::new([(InstructionName::Coding, "Implement one deliverable.")]);
///
/// assert_eq!(texts.resolve(&InstructionName::Coding).await?, "Implement one deliverable.");
/// assert!(texts.resolve(&InstructionName::Verify).await.is_err());
/// # Ok::<(), autonoe_core::run::InstructionError>(())
/// # }).expect("it works");
/// ```
#[async_trait]
pub trait InstructionSource: Send + Sync {
    /// Returns the text of an instruction.
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: InstructionSource + ?Sized> InstructionSource for Arc<S> {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        (**self).resolve(name).await
    }
}

/// An instruction whose text is not available.
#[derive(Debug, thiserror::Error)]
#[error("instruction {name} is not available: {reason}")]
pub struct InstructionError {
    name: InstructionName,
    reason: String,
}

impl InstructionError {
    /// Creates an error about the instruction `name`.
    pub fn new(name: InstructionName, reason: impl Into<String>) -> Self {
        Self {
            name,
            reason: reason.into(),
        }
    }
}

impl From<&InstructionError> for Failure {
    fn from(error: &InstructionError) -> Self {
        Failure::from_error("instruction_missing", error, Retry::Permanent)
    }
}

/// A fixed set of texts.
#[derive(Clone, Debug, Default)]
pub struct FixedInstructions {
    texts: BTreeMap<InstructionName, String>,
}

impl FixedInstructions {
    /// Creates a source from texts by name.
    pub fn new(texts: impl IntoIterator<Item = (InstructionName, impl Into<String>)>) -> Self {
        Self {
            texts: texts
                .into_iter()
                .map(|(name, text)| (name, text.into()))
                .collect(),
        }
    }
}

#[async_trait]
impl InstructionSource for FixedInstructions {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        self.texts
            .get(name)
            .cloned()
            .ok_or_else(|| InstructionError::new(name.clone(), "no text was given for it"))
    }
}
