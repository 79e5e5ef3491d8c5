//! Recorded conversations.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

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
    Program(Spoken),
}

/// A line that the program wrote.
#[derive(Debug)]
pub(super) struct Spoken {
    /// What it says. Halves of characters in it are replaced.
    pub(super) value: Value,
    /// The line as it was, if the value is not the same.
    pub(super) raw: Option<String>,
}

#[derive(Deserialize)]
struct Record {
    dir: String,
    line: Option<Box<RawValue>>,
    code: Option<u8>,
}

impl Spoken {
    /// Reads a line. The program writes halves of characters (`\\ud83d`), which are no text.
    fn read(line: &str) -> io::Result<Self> {
        if let Ok(value) = serde_json::from_str(line) {
            return Ok(Self { value, raw: None });
        }
        let mut whole = line.to_owned();
        while let Some(at) = half_of_character(&whole) {
            whole.replace_range(at..at + 6, "\\ufffd");
        }
        Ok(Self {
            value: serde_json::from_str(&whole)?,
            raw: Some(line.to_owned()),
        })
    }
}

/// Finds an escape that stands for half of a character, and whose other half is not there.
fn half_of_character(text: &str) -> Option<usize> {
    let code = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let is_first = |at| code(at).is_some_and(|code| (0xd800..0xdc00).contains(&code));
    let is_second = |at| code(at).is_some_and(|code| (0xdc00..0xe000).contains(&code));
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        if is_first(at) && is_second(at + 6) {
            at += 12;
        } else if is_first(at) || is_second(at) {
            return Some(at);
        } else {
            // The backslash and what it stands before, which may be another one.
            at += 2;
        }
    }
    None
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
            Step::Program(line) => line.value["request"]["subtype"] == "mcp_message",
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
            let raw = line.as_ref().map_or("null", |line| line.get());
            let spoken = Spoken::read(raw)?;
            let kind = spoken.value["type"].as_str();
            let is_prompt = dir == "in" && kind == Some("user");
            // A prompt that waited behind another one begins a turn only after its result.
            let waited = is_prompt && was_prompt;
            was_prompt = is_prompt;
            let is_result = kind == Some("result");
            match dir.as_str() {
                "in" if waited => queued.push(Step::Host(spoken.value)),
                "in" => recording.steps.push(Step::Host(spoken.value)),
                "out" => recording.steps.push(Step::Program(spoken)),
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
                Step::Host(line) => line["n"].as_u64(),
                Step::Program(line) => line.value["n"].as_u64(),
            })
            .collect();
        assert_eq!(order, [Some(1), Some(3), Some(2)]);
        assert_eq!(recording.exit_code, 1);
    }

    #[test]
    fn halves_of_characters_are_found() {
        for (text, at) in [
            (r"a\\ud83d", None),
            (r"a\\\ud83d", Some(3)),
            (r"\ud83e\udd80", None),
            (r"\ud83d\ud83e\udd80", Some(0)),
            (r"x\udd80", Some(1)),
            (r"\n\u0041", None),
            (r"\ud83", None),
        ] {
            assert_eq!(half_of_character(text), at, "{text}");
        }
    }

    #[test]
    fn a_line_with_half_a_character_is_kept_as_it_was() {
        let line = r#"{"text":"\ud83d!"}"#;

        let spoken = Spoken::read(line).expect("readable");

        assert_eq!(spoken.value["text"], "\u{fffd}!");
        assert_eq!(spoken.raw.as_deref(), Some(line));
    }
}
