//! [`PerformedSession`], the result and transcript of a session.

use crate::agent::{SessionEnd, SessionReport};
use crate::tool::ToolStatus;

/// The result and transcript of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerformedSession {
    /// Its number in the run.
    pub number: u32,
    /// The end and the cost of the session, and the backend's ID of the conversation.
    pub result: SessionReport,
    /// The main agent's text after its last tool call, without thinking.
    pub answer: String,
    /// The whole text of the main agent, with a blank line at each group of tool calls. It includes
    /// neither thinking nor the text of sub-agents.
    pub text: String,
    /// All tool calls in the order of their start, including those of sub-agents.
    pub tool_calls: Vec<PerformedCall>,
}

/// A tool call of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerformedCall {
    /// The backend's ID of the call.
    pub id: String,
    /// The tool, in the backend's spelling: `Bash`, `mcp__autonoe__set_status`.
    pub tool: String,
    /// The target of the call, for people: the command, the files or the address.
    pub target: Option<String>,
    /// The input as JSON. If it is longer than 16 KiB, only its beginning and end.
    pub input: String,
    /// The sub-agent that called; `None` for the main agent.
    pub agent: Option<String>,
    /// The status of the call; `None` if the session did not wait for it.
    pub status: Option<ToolStatus>,
    /// The output that the agent received; `None` if the session did not wait for it. If it is
    /// longer than 16 KiB, only its beginning and end.
    pub output: Option<String>,
}

impl PerformedSession {
    /// Creates the result of a session that never started.
    pub(super) fn not_started(number: u32, end: SessionEnd) -> Self {
        Self {
            number,
            result: SessionReport::new(end),
            answer: String::new(),
            text: String::new(),
            tool_calls: Vec::new(),
        }
    }
}
