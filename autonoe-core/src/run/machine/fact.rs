//! Inputs ([`RunFact`]) and outputs ([`RunAction`]) of the run machine.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::LimitOverrides;
use crate::agent::{Budget, SessionReport};
use crate::event::WaitReason;
use crate::event::{Failure, InstructionName};
use crate::ledger::LedgerView;
use crate::run::ExitReason;
use crate::time::Mode;

/// An event that a [`RunMachine`](super::RunMachine) decides on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum RunFact {
    /// The run starts.
    Started {
        /// The time of the start.
        at: Timestamp,
        /// The ledger at the start.
        ledger: LedgerView,
    },
    /// A session ended.
    SessionEnded {
        /// The time of its end.
        at: Timestamp,
        /// Its number.
        number: u32,
        /// The result of the session.
        result: SessionReport,
        /// The ledger after the session, or the error of reading it.
        ledger: Result<LedgerView, Failure>,
    },
    /// A wait is over. The machine ignores the fact before the end of the wait.
    WaitOver {
        /// The time of the fact.
        at: Timestamp,
        /// The ledger after the wait, or the error of reading it. Other writers may have changed
        /// it.
        ledger: Result<LedgerView, Failure>,
    },
    /// The operator cancels the run.
    Cancelled,
    /// The operator pauses the run before its next session.
    PauseRequested,
    /// The operator resumes the run.
    ResumeRequested {
        /// The time of the request.
        at: Timestamp,
        /// The ledger at that time, or the error of reading it. Other writers may have changed it.
        ledger: Result<LedgerView, Failure>,
    },
    /// The operator sends the agent a message, which becomes part of the next prompt.
    MessageQueued {
        /// The message.
        text: String,
    },
    /// The running session accepted the operator's message.
    MessageSteered {
        /// The message.
        text: String,
    },
    /// An instruction other than the planned one was selected for the session that is about to
    /// start. It must be applied before the session starts.
    InstructionSelected {
        /// The number of the session.
        number: u32,
        /// The selected instruction.
        instruction: InstructionName,
    },
    /// The running session was lost with its process.
    SessionLost {
        /// Its number.
        number: u32,
    },
    /// An interrupted run is resumed under other limits. Apply this fact before restarting the
    /// interrupted action: the machine answers with `Continue` or `Finish`. A running session
    /// counts as lost, so apply its end first if it is known.
    LimitsChanged {
        /// The time of the resumption.
        at: Timestamp,
        /// The new limits.
        limits: LimitOverrides,
        /// The ledger at the resumption.
        ledger: LedgerView,
    },
    /// The run cannot continue.
    Failed {
        /// The error.
        error: Failure,
    },
}

/// An action that a [`RunMachine`](super::RunMachine) requests from its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum RunAction {
    /// Continue the current action.
    Continue,
    /// Start a session; answer with `SessionEnded`.
    StartSession(SessionPlan),
    /// Stop the running session; answer with `SessionEnded`.
    StopSession,
    /// Wait; answer with `WaitOver`.
    Wait {
        /// The reason of the wait.
        reason: WaitReason,
        /// The end of the wait.
        until: Timestamp,
    },
    /// Do nothing until the operator resumes or cancels the run.
    Hold,
    /// End the run.
    Finish {
        /// The reason.
        exit: ExitReason,
    },
}

/// A session to start.
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
    /// The operator's messages since the last session.
    #[serde(default)]
    pub messages: Vec<String>,
    /// The remaining budget at planning time. Its time shrinks until the session starts.
    #[serde(default)]
    pub budget: Budget,
    /// The end of the run's time budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl SessionPlan {
    /// Returns the remaining budget at `now`.
    pub fn budget_at(&self, now: Timestamp) -> Budget {
        self.budget.with_deadline(self.deadline, now)
    }
}
