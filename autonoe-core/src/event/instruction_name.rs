//! [`InstructionName`], the name of the instruction of a session, and its [`Phase`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the instruction that a session receives.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
#[non_exhaustive]
pub enum InstructionName {
    /// Turn the specification into deliverables.
    Initializer,
    /// Implement a deliverable.
    Coding,
    /// Bring the ledger in line with the specification.
    Sync,
    /// Verify the code against the deliverables.
    Verify,
    /// A custom instruction of the embedder, created by [`InstructionName::new`].
    Custom(CustomInstruction),
}

/// Name of a custom instruction of the embedder; never one of the four built-in names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomInstruction(String);

impl InstructionName {
    /// The four built-in instructions, used by the two workflows.
    pub const BUILT_IN: [Self; 4] = [Self::Initializer, Self::Coding, Self::Sync, Self::Verify];

    /// Returns the built-in instruction with this name, or a custom instruction.
    ///
    /// ```
    /// use autonoe_core::event::InstructionName;
    ///
    /// assert_eq!(InstructionName::new("coding"), InstructionName::Coding);
    /// assert_eq!(InstructionName::new("review").as_str(), "review");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self::BUILT_IN
            .into_iter()
            .find(|built_in| built_in.as_str() == name)
            .unwrap_or(Self::Custom(CustomInstruction(name)))
    }

    /// Returns the name as text, for example `initializer`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Initializer => "initializer",
            Self::Coding => "coding",
            Self::Sync => "sync",
            Self::Verify => "verify",
            Self::Custom(name) => &name.0,
        }
    }

    /// Returns the phase that the instruction belongs to.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Initializer | Self::Sync => Phase::Planning,
            Self::Coding | Self::Verify | Self::Custom(_) => Phase::Implementation,
        }
    }
}

impl fmt::Display for InstructionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for InstructionName {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<InstructionName> for String {
    fn from(name: InstructionName) -> Self {
        name.as_str().to_owned()
    }
}

/// Phase of a workflow that a session belongs to. Each phase may have its own model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Creates the deliverables: `initializer` and `sync`.
    Planning,
    /// Works on the deliverables: `coding`, `verify` and custom instructions.
    Implementation,
}
