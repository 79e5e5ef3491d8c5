//! [`InstructionSource`], the texts that sessions start with.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::event::{Failure, InstructionName, Retry};

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
