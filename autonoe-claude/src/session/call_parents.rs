//! [`CallParents`] of tool calls: their sub-agents and model answers.

use std::collections::HashMap;

use crate::wire::{Assistant, Block, Message};

/// The origins of tool calls, as far as the program has reported them.
///
/// The message about a call of a sub-agent and the request for it arrive in either order. But the
/// tool call that started the sub-agent is reported before both.
#[derive(Debug, Default)]
pub(super) struct CallParents {
    /// The tool calls that started sub-agents, by the ids of the sub-agents.
    agents: HashMap<String, String>,
    /// The ids of the model answers that contain calls, by the calls.
    messages: HashMap<String, String>,
}

impl CallParents {
    /// Observes a message. The ids of answers are kept for calls of tools that are `is_wanted`.
    pub(super) fn observe(&mut self, message: &Message<'_>, predicate: impl Fn(&str) -> bool) {
        match message {
            Message::TaskStarted(task) => {
                if let (Some(agent), Some(call)) = (&task.task_id, &task.tool_use_id) {
                    self.agents.insert(agent.to_string(), call.to_string());
                }
            }
            Message::Assistant(Assistant {
                message_id: Some(id),
                blocks,
                ..
            }) => {
                for block in blocks {
                    if let Block::ToolUse(tool) = block
                        && predicate(&tool.name)
                    {
                        self.messages.insert(tool.id.to_string(), id.to_string());
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the tool call that started a sub-agent.
    pub(super) fn call_of_agent(&self, agent: &str) -> Option<&str> {
        self.agents.get(agent).map(String::as_str)
    }

    /// Removes and returns the id of the model answer that contains a call.
    pub(super) fn take_message(&mut self, call: &str) -> Option<String> {
        self.messages.remove(call)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wire::{Line, RequestContent};

    const SUB_AGENTS: [&str; 2] = [
        include_str!("../../tests/transcripts/2.1.197/l04b_subagent_hooked.jsonl"),
        include_str!("../../tests/transcripts/2.1.325/l04b_subagent_hooked.jsonl"),
    ];
    const OUR_TOOLS: [&str; 2] = [
        include_str!("../../tests/transcripts/2.1.197/c11_mcp_parallel_calls.jsonl"),
        include_str!("../../tests/transcripts/2.1.325/c11_mcp_parallel_calls.jsonl"),
    ];

    /// Returns the recorded lines of the program.
    fn recorded_lines(recorded: &str) -> Vec<Line> {
        let steps = recorded.lines().map(|step| {
            let step: Value = serde_json::from_str(step).expect("JSON");
            (step["dir"] == "out").then(|| step["line"].to_string())
        });
        let lines = steps
            .flatten()
            .map(|line| Line::from_text(line).expect("a message"));
        lines.collect()
    }

    #[test]
    fn the_call_of_a_sub_agent_is_known_before_the_hook_requests_for_its_calls() {
        for recorded in SUB_AGENTS {
            let (mut origins, mut requested) = (CallParents::default(), HashMap::new());
            let mut reported = HashMap::new();
            for line in recorded_lines(recorded) {
                let message = line.parse();
                origins.observe(&message, |_| true);
                match &message {
                    Message::ControlRequest(request) => {
                        let RequestContent::Hook(hook) = &request.content else {
                            continue;
                        };
                        let input = hook.input.as_ref().expect("an input");
                        if let (Some(agent), Some(call)) = (&input.agent_id, &input.tool_use_id) {
                            let parent = origins.call_of_agent(agent).expect("it is known");
                            requested.insert(call.to_string(), parent.to_owned());
                        }
                    }
                    Message::Assistant(assistant) => {
                        for block in &assistant.blocks {
                            if let (Block::ToolUse(tool), Some(parent)) =
                                (block, &assistant.parent_tool_use_id)
                            {
                                reported.insert(tool.id.to_string(), parent.to_string());
                            }
                        }
                    }
                    _ => {}
                }
            }

            assert_eq!(requested.len(), 1);
            assert_eq!(requested, reported);
        }
    }

    #[test]
    fn the_answer_of_the_model_is_known_when_one_of_our_tools_is_called() {
        for recorded in OUR_TOOLS {
            let mut origins = CallParents::default();
            let mut found = Vec::new();
            for line in recorded_lines(recorded) {
                let message = line.parse();
                origins.observe(&message, |tool| tool.starts_with("mcp__"));
                let raw: Value = serde_json::from_slice(line.raw()).expect("JSON");
                let params = &raw["request"]["message"]["params"];
                if let Some(call) = params["_meta"]["claudecode/toolUseId"].as_str() {
                    found.extend(origins.take_message(call));
                    assert_eq!(origins.take_message(call), None);
                }
            }

            assert!(found.len() >= 2, "{found:?}");
            assert!(found.iter().all(|id| id.starts_with("msg_")), "{found:?}");
        }
    }
}
