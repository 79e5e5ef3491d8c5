//! What a journal tells about a session.

use jiff::Timestamp;

use crate::domain::{InstructionName, SessionResult};

/// What happened in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStory {
    /// Its number.
    pub number: u32,
    /// What the agent was told to do.
    pub instruction: InstructionName,
    /// When it was started, the last time.
    pub started_at: Timestamp,
    /// How often it was started: more than once if it was lost with its process.
    pub starts: u32,
    /// When it ended; `None` if it never did.
    pub ended_at: Option<Timestamp>,
    /// What is known of it; `None` if it never ended.
    pub result: Option<SessionResult>,
    /// How many deliverables it created or changed.
    pub changes: u32,
    /// The tool calls that were denied, in order.
    pub blocked: Vec<BlockedCall>,
}

/// A tool call that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedCall {
    /// When.
    pub at: Timestamp,
    /// The tool.
    pub tool: String,
    /// What it would have touched, when the journal tells: the command, the files or the address.
    pub target: Option<String>,
    /// Who denied it.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl SessionStory {
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
