//! [`Workflow`], the instruction selection and the completion rule of a mode.

use autonoe_security::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{InstructionName, Phase};
use crate::ledger::LedgerView;
use crate::run::ExitReason;

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
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::ledger::LedgerView;
/// use autonoe_core::run::Workflow;
/// use autonoe_core::Mode;
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
    /// Creates the rules of `mode`.
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// Returns the instruction of the next session.
    ///
    /// `planned` is whether a planning session of this run has completed. Only sync uses it,
    /// because only sync reads the specification again although a ledger exists.
    pub fn instruction(&self, ledger: &LedgerView, planned: bool) -> InstructionName {
        match self.mode {
            Mode::Run if ledger.counts.is_empty() => InstructionName::Initializer,
            Mode::Run => InstructionName::Coding,
            Mode::Sync if planned && !ledger.counts.is_empty() => InstructionName::Verify,
            Mode::Sync => InstructionName::Sync,
        }
    }

    /// Returns the exit that follows from a finished ledger, or `None` while there is work.
    ///
    /// A sync is never finished before its planning session has completed.
    pub fn completion(&self, ledger: &LedgerView, planned: bool) -> Option<ExitReason> {
        match self.mode {
            Mode::Run if ledger.counts.all_blocked() => Some(ExitReason::AllBlocked),
            Mode::Run if ledger.counts.all_achievable_passed() => Some(ExitReason::AllPassed),
            Mode::Sync if planned && ledger.all_verified() => Some(ExitReason::AllVerified),
            Mode::Run | Mode::Sync => None,
        }
    }
}
