//! What came of a session.

use crate::domain::{SessionEnd, SessionResult, ToolStatus};

/// What came of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerformedSession {
    /// Its number in the run.
    pub number: u32,
    /// How it ended and what it cost. The backend's name of the conversation is there, too.
    pub result: SessionResult,
    /// What the main agent said last, after its last tool call. Thinking is not in it.
    pub answer: String,
    /// All that the main agent said, with a blank line where it called tools. Thinking is not in
    /// it, nor what sub-agents said.
    pub text: String,
    /// All tool calls in the order of their start, those of sub-agents included.
    pub tool_calls: Vec<PerformedCall>,
}

/// A tool call of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerformedCall {
    /// The backend's name of the call.
    pub id: String,
    /// The tool, in the backend's spelling: `Bash`, `mcp__autonoe__set_status`.
    pub tool: String,
    /// What it touched, for people: the command, the files or the address.
    pub target: Option<String>,
    /// The input as JSON. Of more than 16 KiB, the beginning and the end.
    pub input: String,
    /// The sub-agent that called; `None` for the main agent.
    pub agent: Option<String>,
    /// How it ended; `None` if the session did not wait for it.
    pub status: Option<ToolStatus>,
    /// The output that the agent received; `None` if the session did not wait for it. Of more than
    /// 16 KiB, the beginning and the end.
    pub output: Option<String>,
}

impl PerformedSession {
    /// Makes the account of a session that never began.
    pub(super) fn not_begun(number: u32, end: SessionEnd) -> Self {
        Self {
            number,
            result: SessionResult::new(end),
            answer: String::new(),
            text: String::new(),
            tool_calls: Vec::new(),
        }
    }
}
