//! What a run machine is told, and what it asks for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::GivenLimits;
use crate::domain::{
    Budget, ExitReason, Failure, InstructionName, LedgerView, Mode, SessionResult,
};
use crate::port::WaitReason;

/// Something that happened, told to a [`RunMachine`](super::RunMachine).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum RunFact {
    /// The run begins.
    Started {
        /// When.
        at: Timestamp,
        /// The ledger as it is found.
        ledger: LedgerView,
    },
    /// A session is over.
    SessionEnded {
        /// When.
        at: Timestamp,
        /// Its number.
        number: u32,
        /// What is known of it.
        result: SessionResult,
        /// The ledger after it, or why it cannot be read.
        ledger: Result<LedgerView, Failure>,
    },
    /// A wait that the machine asked for is over. Too early is not over.
    WaitOver {
        /// When.
        at: Timestamp,
        /// The ledger after it, or why it cannot be read: others may have changed it.
        ledger: Result<LedgerView, Failure>,
    },
    /// A person wants the run to end at once.
    Cancelled,
    /// A person wants the run to hold before the next session.
    PauseRequested,
    /// A person wants the run to go on.
    ResumeRequested {
        /// When.
        at: Timestamp,
        /// The ledger then, or why it cannot be read: others may have changed it.
        ledger: Result<LedgerView, Failure>,
    },
    /// A person has something to tell the agent; it goes into the next prompt.
    Instructed {
        /// What.
        text: String,
    },
    /// The running session took what a person had to tell.
    Steered {
        /// What.
        text: String,
    },
    /// An instruction other than the planned one was selected for the session that is to start. It
    /// must be applied before the session starts.
    InstructionSelected {
        /// The number of the session.
        number: u32,
        /// The selected instruction.
        instruction: InstructionName,
    },
    /// The session that was under way was lost with the process that ran it.
    SessionLost {
        /// Its number.
        number: u32,
    },
    /// An interrupted run is resumed under other limits. Told before what was under way is begun
    /// again: the answer is to `Continue` with it, or to `Finish`. A session counts as lost then,
    /// so tell its end first if that is known.
    LimitsChanged {
        /// When.
        at: Timestamp,
        /// Those that are new.
        limits: GivenLimits,
        /// The ledger as it is found.
        ledger: LedgerView,
    },
    /// The run cannot go on.
    Failed {
        /// Why.
        error: Failure,
    },
}

/// What a [`RunMachine`](super::RunMachine) asks its driver to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum RunAction {
    /// Go on with what is under way.
    Continue,
    /// Start a session; answer with `SessionEnded`.
    StartSession(SessionPlan),
    /// Stop the session that is under way; answer with `SessionEnded`.
    StopSession,
    /// Wait; answer with `WaitOver`.
    Wait {
        /// For what.
        reason: WaitReason,
        /// Until when.
        until: Timestamp,
    },
    /// Do nothing until a person resumes or cancels.
    Hold,
    /// The run is over.
    Finish {
        /// Why.
        exit: ExitReason,
    },
}

/// A session that is to be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionPlan {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The mode of the run.
    #[serde(default, skip_serializing_if = "Mode::is_run")]
    pub mode: Mode,
    /// The instruction for the agent.
    pub instruction: InstructionName,
    /// What persons have told the run since the last session.
    #[serde(default)]
    pub messages: Vec<String>,
    /// What is left of the budget now. Its time shrinks until the session starts.
    #[serde(default)]
    pub budget: Budget,
    /// When the time of the run is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl SessionPlan {
    /// Returns what is left of the budget at `now`.
    pub fn budget_at(&self, now: Timestamp) -> Budget {
        self.budget.until(self.deadline, now)
    }
}
