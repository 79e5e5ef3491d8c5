//! [`Transcript`], the collected text and tool calls of a session, and the [`PerformedSession`] with its result.

use std::collections::HashMap;

use crate::agent::{SessionEnd, SessionReport, StreamEvent};
use crate::text::excerpt;
use crate::tool::{ToolKind, ToolStatus};

/// The agent's text and tool calls so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// The main agent's text before its last call.
    before: String,
    /// Its text since then.
    answer: String,
    calls: Vec<PerformedCall>,
    by_id: HashMap<String, usize>,
}

impl Transcript {
    /// Adds `event`.
    pub(super) fn note(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Text { text, agent: None } => self.answer.push_str(text),
            StreamEvent::ToolInvocation {
                call_id,
                name,
                input,
                agent,
            } => {
                if agent.is_none() {
                    let text = std::mem::take(&mut self.answer);
                    join(&mut self.before, &text);
                }
                self.by_id.insert(call_id.clone(), self.calls.len());
                self.calls.push(PerformedCall {
                    id: call_id.clone(),
                    tool: name.clone(),
                    target: ToolKind::from_name(name, input).target(),
                    input: excerpt(input.to_string()),
                    agent: agent.clone(),
                    status: None,
                    output: None,
                });
            }
            StreamEvent::ToolResponse {
                call_id,
                output,
                status,
            } => {
                let call = self.by_id.get(call_id);
                if let Some(call) = call.and_then(|index| self.calls.get_mut(*index)) {
                    call.status = Some(*status);
                    call.output = Some(excerpt(output.clone()));
                }
            }
            _ => {}
        }
    }

    pub(super) fn into_performed(self, number: u32, result: SessionReport) -> PerformedSession {
        let mut text = self.before;
        join(&mut text, &self.answer);
        PerformedSession {
            number,
            result,
            answer: self.answer,
            text,
            tool_calls: self.calls,
        }
    }
}

/// Appends a part of the text after a blank line.
fn join(text: &mut String, part: &str) {
    if part.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(part);
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ToolStatus;

    #[test]
    fn text_is_that_of_the_main_agent_and_the_answer_its_last_part() {
        let mut transcript = Transcript::default();
        for event in [
            StreamEvent::thinking("secretly done"),
            StreamEvent::text("I lo"),
            StreamEvent::text("ok."),
            StreamEvent::tool_invocation("1", "Bash", json!({"command": "ls"})),
            StreamEvent::tool_response("1", "out", ToolStatus::Denied),
            StreamEvent::tool_invocation("2", "mcp__autonoe__list", json!({})),
            StreamEvent::text("sub").by_agent("helper"),
            StreamEvent::tool_response("2", "out", ToolStatus::Ok),
            StreamEvent::tool_response("unheard of", "out", ToolStatus::Ok),
            StreamEvent::text("Done."),
            StreamEvent::tool_invocation("3", "Read", json!({"file_path": "a"})).by_agent("helper"),
        ] {
            transcript.note(&event);
        }

        let performed = transcript.into_performed(1, SessionReport::completed());

        assert_eq!(performed.text, "I look.\n\nDone.");
        assert_eq!(performed.answer, "Done.");
        let calls: Vec<_> = performed
            .tool_calls
            .iter()
            .map(|call| {
                (
                    &*call.tool,
                    call.target.as_deref(),
                    call.agent.as_deref(),
                    call.status,
                )
            })
            .collect();
        assert_eq!(
            calls,
            [
                ("Bash", Some("ls"), None, Some(ToolStatus::Denied)),
                ("mcp__autonoe__list", None, None, Some(ToolStatus::Ok)),
                ("Read", Some("a"), Some("helper"), None),
            ]
        );
    }

    #[test]
    fn a_call_keeps_its_input_and_its_output_and_of_long_ones_both_ends() {
        let long = format!("begin{}end", "-".repeat(100_000));
        let mut transcript = Transcript::default();
        for event in [
            StreamEvent::tool_invocation("1", "Bash", json!({"command": "ls"})),
            StreamEvent::tool_response("1", "a.txt", ToolStatus::Ok),
            StreamEvent::tool_invocation("2", "Write", json!({"content": long})),
            StreamEvent::tool_response("2", &*long, ToolStatus::Ok),
            StreamEvent::tool_invocation("3", "Read", json!({"file_path": "a"})),
        ] {
            transcript.note(&event);
        }

        let performed = transcript.into_performed(1, SessionReport::completed());

        let [short, cut, open] = performed.tool_calls.as_slice() else {
            panic!("three calls: {:?}", performed.tool_calls);
        };
        assert_eq!(short.input, r#"{"command":"ls"}"#);
        assert_eq!(short.output.as_deref(), Some("a.txt"));
        let output = cut.output.as_deref().expect("it ended");
        assert!(output.starts_with("begin") && output.ends_with("end"));
        assert!(cut.input.contains("bytes were left out"), "{}", cut.input);
        assert!(output.len() <= 16 * 1024 && cut.input.len() <= 16 * 1024);
        assert_eq!(open.output, None);
    }
}
