//! [`SessionHistory`], the recorded history of a session.

use jiff::Timestamp;

use crate::agent::SessionReport;
use crate::event::InstructionName;

/// The recorded history of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionHistory {
    /// Its number.
    pub number: u32,
    /// The agent's instruction.
    pub instruction: InstructionName,
    /// The time of its last start.
    pub started_at: Timestamp,
    /// The number of starts: more than one if it was lost with its process.
    pub starts: u32,
    /// The time of its end; `None` if it never ended.
    pub ended_at: Option<Timestamp>,
    /// Its result; `None` if it never ended.
    pub result: Option<SessionReport>,
    /// The number of deliverables that it created or changed.
    pub changes: u32,
    /// The denied tool calls, in order.
    pub blocked: Vec<BlockedCall>,
}

/// A denied tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedCall {
    /// The time of the denial.
    pub at: Timestamp,
    /// The tool.
    pub tool: String,
    /// The target of the call, if the journal has it: the command, the files or the address.
    pub target: Option<String>,
    /// The guard or hook that denied it.
    pub by: String,
    /// The reason.
    pub reason: String,
}

impl SessionHistory {
    pub(super) fn new(number: u32, instruction: InstructionName, started_at: Timestamp) -> Self {
        Self {
            number,
            instruction,
            started_at,
            starts: 1,
            ended_at: None,
            result: None,
            changes: 0,
            blocked: Vec::new(),
        }
    }
}
