//! Recorded conversations.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use serde_json::Value;

/// A recorded conversation.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) steps: Vec<Step>,
    pub(super) exit_code: u8,
}

/// One line of a conversation.
#[derive(Debug)]
pub(super) enum Step {
    Host(Value),
    Program(Value),
}

#[derive(Deserialize)]
struct Record {
    dir: String,
    #[serde(default)]
    line: Value,
    code: Option<u8>,
}

impl Recording {
    /// Reads a conversation: a file of JSON lines, each with `dir` (`in`, `out`, `note` or `exit`).
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is none.
    pub(super) fn load(path: &Path) -> io::Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
    }

    /// Tells whether the program talked to MCP servers of the host.
    pub(super) fn has_messages_to_servers(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Program(line) => line["request"]["subtype"] == "mcp_message",
            Step::Host(_) => false,
        })
    }

    fn parse(text: &str) -> io::Result<Self> {
        let mut recording = Self {
            steps: Vec::new(),
            exit_code: 0,
        };
        let mut queued = Vec::new();
        let mut was_prompt = false;
        for record in text.lines() {
            let Record { dir, line, code } = serde_json::from_str(record)?;
            let is_prompt = dir == "in" && line["type"] == "user";
            // A prompt that waited behind another one begins a turn only after its result.
            let waited = is_prompt && was_prompt;
            was_prompt = is_prompt;
            let is_result = line["type"] == "result";
            match dir.as_str() {
                "in" if waited => queued.push(Step::Host(line)),
                "in" => recording.steps.push(Step::Host(line)),
                "out" => recording.steps.push(Step::Program(line)),
                "exit" => recording.exit_code = code.unwrap_or_default(),
                _ => {}
            }
            if is_result {
                recording.steps.append(&mut queued);
            }
        }
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_was_queued_is_waited_for_after_the_turn_before_it() {
        let text = r#"
            {"dir": "in", "line": {"type": "user", "n": 1}}
            {"dir": "in", "line": {"type": "user", "n": 2}}
            {"dir": "out", "line": {"type": "result", "n": 3}}
            {"dir": "note", "line": "stdin closed"}
            {"dir": "exit", "code": 1, "args": []}"#;

        let recording = Recording::parse(text.trim()).expect("readable");

        let order: Vec<_> = recording
            .steps
            .iter()
            .map(|step| match step {
                Step::Host(line) | Step::Program(line) => line["n"].as_u64(),
            })
            .collect();
        assert_eq!(order, [Some(1), Some(3), Some(2)]);
        assert_eq!(recording.exit_code, 1);
    }
}
