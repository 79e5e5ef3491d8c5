//! Where calls come from.

use std::collections::HashMap;

use crate::wire::{Assistant, Block, Message};

/// Where calls come from, as far as the program has said it.
///
/// What it says about a call of a sub-agent, and what it asks about it, come in either order. But
/// it says before both which call the sub-agent is.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// The calls that sub-agents are, by their own names.
    agents: HashMap<String, String>,
    /// The answers of the model that calls are part of, by the calls.
    messages: HashMap<String, String>,
}

impl Origins {
    /// Takes note of what the program says. The answers of calls are kept that `is_wanted`.
    pub(super) fn notice(&mut self, message: &Message<'_>, is_wanted: impl Fn(&str) -> bool) {
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
                        && is_wanted(&tool.name)
                    {
                        self.messages.insert(tool.id.to_string(), id.to_string());
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the call that a sub-agent is.
    pub(super) fn call_of_agent(&self, agent: &str) -> Option<&str> {
        self.agents.get(agent).map(String::as_str)
    }

    /// Returns the answer of the model that a call is part of. It is forgotten then.
    pub(super) fn take_message(&mut self, call: &str) -> Option<String> {
        self.messages.remove(call)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::wire::{Line, Question};

    const SUB_AGENTS: [&str; 2] = [
        include_str!("../../tests/transcripts/2.1.197/l04b_subagent_hooked.jsonl"),
        include_str!("../../tests/transcripts/2.1.325/l04b_subagent_hooked.jsonl"),
    ];
    const OUR_TOOLS: [&str; 2] = [
        include_str!("../../tests/transcripts/2.1.197/c11_mcp_parallel_calls.jsonl"),
        include_str!("../../tests/transcripts/2.1.325/c11_mcp_parallel_calls.jsonl"),
    ];

    /// Returns what the program said, line by line.
    fn said(recorded: &str) -> Vec<Line> {
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
    fn the_call_that_a_sub_agent_is_is_known_when_a_hook_is_asked_about_its_calls() {
        for recorded in SUB_AGENTS {
            let (mut origins, mut asked) = (Origins::default(), HashMap::new());
            let mut told = HashMap::new();
            for line in said(recorded) {
                let message = line.read();
                origins.notice(&message, |_| true);
                match &message {
                    Message::ControlRequest(request) => {
                        let Question::Hook(hook) = &request.question else {
                            continue;
                        };
                        let input = hook.input.as_ref().expect("an input");
                        if let (Some(agent), Some(call)) = (&input.agent_id, &input.tool_use_id) {
                            let parent = origins.call_of_agent(agent).expect("it is known");
                            asked.insert(call.to_string(), parent.to_owned());
                        }
                    }
                    Message::Assistant(said) => {
                        for block in &said.blocks {
                            if let (Block::ToolUse(tool), Some(parent)) =
                                (block, &said.parent_tool_use_id)
                            {
                                told.insert(tool.id.to_string(), parent.to_string());
                            }
                        }
                    }
                    _ => {}
                }
            }

            assert_eq!(asked.len(), 1);
            assert_eq!(asked, told);
        }
    }

    #[test]
    fn the_answer_of_the_model_is_known_when_one_of_our_tools_is_called() {
        for recorded in OUR_TOOLS {
            let mut origins = Origins::default();
            let mut found = Vec::new();
            for line in said(recorded) {
                let message = line.read();
                origins.notice(&message, |tool| tool.starts_with("mcp__"));
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
