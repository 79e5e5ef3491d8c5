//! [`BuiltInInstructions`], the built-in instruction texts.

use async_trait::async_trait;

use crate::event::InstructionName;
use crate::run::{InstructionError, InstructionSource};

/// The four built-in instruction texts.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::BuiltInInstructions;
/// use autonoe_core::run::InstructionSource;
///
/// # futures::executor::block_on(async {
/// let text = BuiltInInstructions.resolve(&InstructionName::Coding).await?;
///
/// assert!(text.contains("mcp__autonoe__set_status"));
/// # Ok::<(), autonoe_core::run::InstructionError>(())
/// # }).expect("it works");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInInstructions;

impl BuiltInInstructions {
    /// Returns the text of `name`, or `None` for a custom instruction.
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
            .ok_or_else(|| InstructionError::new(name.clone(), "it has no built-in text"))
    }
}
