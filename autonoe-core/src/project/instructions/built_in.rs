//! The texts that Autonoe brings along.

use async_trait::async_trait;

use crate::domain::InstructionName;
use crate::port::{InstructionError, InstructionSource};

/// The four texts that Autonoe brings along.
///
/// ```
/// use autonoe_core::{BuiltInInstructions, InstructionName, InstructionSource};
///
/// # futures::executor::block_on(async {
/// let text = BuiltInInstructions.resolve(&InstructionName::Coding).await?;
///
/// assert!(text.contains("mcp__autonoe__set_status"));
/// # Ok::<(), autonoe_core::InstructionError>(())
/// # }).expect("it works");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInInstructions;

impl BuiltInInstructions {
    /// Returns the text of `name`, or `None` for an instruction of the embedder's own.
    pub fn text(name: &InstructionName) -> Option<&'static str> {
        match name {
            InstructionName::Initializer => Some(include_str!("initializer.md")),
            InstructionName::Coding => Some(include_str!("coding.md")),
            InstructionName::Sync => Some(include_str!("sync.md")),
            InstructionName::Verify => Some(include_str!("verify.md")),
            InstructionName::Custom(_) => None,
        }
    }
}

#[async_trait]
impl InstructionSource for BuiltInInstructions {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        Self::text(name)
            .map(str::to_owned)
            .ok_or_else(|| InstructionError::new(name.clone(), "there is no built-in text for it"))
    }
}
