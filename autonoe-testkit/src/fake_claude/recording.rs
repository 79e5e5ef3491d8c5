//! Recorded sessions and output lines of the real program.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Build;

/// A recorded session.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) steps: Vec<Step>,
    pub(super) exit_code: u8,
}

/// One line of a session.
#[derive(Debug)]
pub(super) enum Step {
    Host(Value),
    Program(OutputLine),
}

/// A line that the program wrote.
#[derive(Debug)]
pub(super) struct OutputLine {
    /// The message, with unpaired surrogates replaced.
    pub(super) value: Value,
    /// The original line, if the value differs from it.
    pub(super) raw: Option<String>,
}

#[derive(Deserialize)]
struct Record {
    dir: String,
    line: Option<Box<RawValue>>,
    code: Option<u8>,
}

impl OutputLine {
    /// Parses a line. The program writes unpaired surrogates (`\\ud83d`), which are not valid text.
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

/// Finds an escape of an unpaired surrogate.
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
            // The backslash and the escaped character, which may be another backslash.
            at += 2;
        }
    }
    None
}

impl Recording {
    /// Creates a session in which the agent answers the first prompt with these texts.
    pub(super) fn from_texts(lines: &Lines, texts: &[String]) -> Self {
        let initialized = lines.get(Kind::Initialize);
        let id = &initialized["response"]["request_id"];
        let request = json!({"subtype": "initialize"});
        let initialize = json!({"type": "control_request", "request_id": id, "request": request});
        let mut result = lines.get(Kind::Result);
        result["result"] = json!(texts.last());

        let program = |value| Step::Program(OutputLine { value, raw: None });
        let mut steps = vec![
            Step::Host(initialize),
            program(initialized),
            Step::Host(json!({"type": "user"})),
            program(lines.get(Kind::Init)),
        ];
        steps.extend(texts.iter().map(|text| {
            let mut line = lines.get(Kind::Text);
            line["message"]["content"][0]["text"] = text.as_str().into();
            program(line)
        }));
        steps.push(program(result));
        Self {
            steps,
            exit_code: 0,
        }
    }

    /// Reads a session: a file of JSON lines, each with `dir` (`in`, `out`, `note` or `exit`).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a session.
    pub(super) fn load(path: &Path) -> io::Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
    }

    /// Returns whether the program wrote to MCP servers of the host.
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
            let written = OutputLine::read(raw)?;
            let kind = written.value["type"].as_str();
            let is_prompt = dir == "in" && kind == Some("user");
            // A prompt that was queued behind another one starts a turn only after its result.
            let waited = is_prompt && was_prompt;
            was_prompt = is_prompt;
            let is_result = kind == Some("result");
            match dir.as_str() {
                "in" if waited => queued.push(Step::Host(written.value)),
                "in" => recording.steps.push(Step::Host(written.value)),
                "out" => recording.steps.push(Step::Program(written)),
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

/// The recorded lines of a build that are needed in addition to a recording.
///
/// The files in `recorded/` name the session of each line.
#[derive(Debug)]
pub(super) struct Lines(HashMap<Kind, Recorded>);

#[derive(Debug, Deserialize)]
struct Recorded {
    line: Value,
}

/// The kind of a recorded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The response to `initialize`.
    Initialize,
    /// The response to `get_settings`.
    Settings,
    /// The response to `mcp_status`.
    McpStatus,
    /// The response to an unknown request.
    Unsupported,
    /// The response to `end_session`.
    EndSession,
    /// The start of a turn.
    Init,
    /// A text of the agent.
    Text,
    /// `initialize` for an MCP server.
    McpInitialize,
    /// The notification `initialized` for an MCP server.
    McpInitialized,
    /// `tools/list` for an MCP server.
    McpList,
    /// The end of a completed turn.
    Result,
}

impl Lines {
    /// Reads the lines of `build`.
    ///
    /// # Errors
    ///
    /// If the file in this crate is malformed, which a test rules out.
    pub(super) fn load(build: Build) -> io::Result<Self> {
        Ok(Self(serde_json::from_str(build.recorded())?))
    }

    /// Returns the line of this kind.
    pub(super) fn get(&self, kind: Kind) -> Value {
        self.0
            .get(&kind)
            .map(|recorded| recorded.line.clone())
            .unwrap_or_default()
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
    fn a_line_with_an_incomplete_character_is_unchanged() {
        let line = r#"{"text":"\ud83d!"}"#;

        let written = OutputLine::read(line).expect("readable");

        assert_eq!(written.value["text"], "\u{fffd}!");
        assert_eq!(written.raw.as_deref(), Some(line));
    }

    #[test]
    fn every_build_has_every_line() {
        for build in Build::ALL {
            let lines = Lines::load(build).expect("readable");

            // `Result` is the last kind.
            assert_eq!(lines.0.len(), Kind::Result as usize + 1, "{build:?}");
        }
    }
}
