//! Which instruction comes next, and when the work is done.

use std::fmt;

use autonoe_security::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExitReason, LedgerView};

/// Names what a session is told to do.
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
    /// An instruction of the embedder's own; made by [`InstructionName::new`].
    Custom(CustomInstruction),
}

/// The name of an instruction of the embedder's own, never one of the four built-in ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomInstruction(String);

impl InstructionName {
    /// The four instructions of the two workflows.
    pub const BUILT_IN: [Self; 4] = [Self::Initializer, Self::Coding, Self::Sync, Self::Verify];

    /// Returns the instruction with this name: a built-in one, or one of the embedder's own.
    ///
    /// ```
    /// use autonoe_core::InstructionName;
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

/// The part of a workflow that a session belongs to; each may have its own model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The deliverables are made: `initializer` and `sync`.
    Planning,
    /// The deliverables are worked on: `coding` and `verify`.
    Implementation,
}

/// The models to use, by phase. `None` leaves the choice to the backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Models {
    /// For sessions that plan; falls back to `implementation`.
    pub planning: Option<String>,
    /// For sessions that implement or verify.
    pub implementation: Option<String>,
}

impl Models {
    /// Uses one model for everything.
    pub fn all(model: impl Into<String>) -> Self {
        Self {
            planning: None,
            implementation: Some(model.into()),
        }
    }

    /// Returns the model for `phase`, if one was chosen.
    pub fn for_phase(&self, phase: Phase) -> Option<&str> {
        match phase {
            Phase::Planning => self.planning.as_deref().or(self.implementation.as_deref()),
            Phase::Implementation => self.implementation.as_deref(),
        }
    }
}

/// The rules of a mode, as pure functions.
///
/// ```
/// use autonoe_core::{InstructionName, LedgerView, Mode, Workflow};
///
/// let workflow = Workflow::new(Mode::Run);
///
/// assert_eq!(workflow.instruction(&LedgerView::default(), false), InstructionName::Initializer);
/// assert_eq!(workflow.completion(&LedgerView::default(), false), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Workflow {
    mode: Mode,
}

impl Workflow {
    /// Takes the rules of `mode`.
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// Returns the instruction of the next session.
    ///
    /// `planned` tells whether a planning session of this run has ended in
    /// order; only sync looks at it, because only there the specification is
    /// read again although a ledger exists.
    pub fn instruction(&self, ledger: &LedgerView, planned: bool) -> InstructionName {
        match self.mode {
            Mode::Run if ledger.counts.is_empty() => InstructionName::Initializer,
            Mode::Run => InstructionName::Coding,
            Mode::Sync if planned && !ledger.counts.is_empty() => InstructionName::Verify,
            Mode::Sync => InstructionName::Sync,
        }
    }

    /// Returns the exit that a finished ledger calls for, or `None` while there is work.
    ///
    /// A sync is never finished before its planning session has ended in order.
    pub fn completion(&self, ledger: &LedgerView, planned: bool) -> Option<ExitReason> {
        match self.mode {
            Mode::Run if ledger.counts.all_blocked() => Some(ExitReason::AllBlocked),
            Mode::Run if ledger.counts.all_achievable_passed() => Some(ExitReason::AllPassed),
            Mode::Sync if planned && ledger.all_verified() => Some(ExitReason::AllVerified),
            Mode::Run | Mode::Sync => None,
        }
    }
}
