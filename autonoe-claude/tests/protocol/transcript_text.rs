//! [`Narration`] of a conversation, as lines for review.

use std::fmt::Write as _;

use autonoe_claude::events::{FinishedSession, SessionPhase, Translator};
use autonoe_claude::outcome::{Exit, HostAction};
use autonoe_claude::wire::{LineReader, Message, RequestContent};
use autonoe_core::StreamEvent;
use serde_json::Value;

use crate::descriptions::{answer, describe, event, raw_value, short};
use crate::transcript::{Step, Transcript};

/// One query of a conversation, from its prompt to its end.
pub(crate) struct Query {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) finished: FinishedSession,
}

/// A conversation as text and as events.
pub(crate) struct Narration {
    pub(crate) text: String,
    pub(crate) queries: Vec<Query>,
}

/// Replays a conversation like a host that stops when the session is over.
pub(crate) fn narrate(transcript: &Transcript) -> Narration {
    let mut narrator = Narrator::default();
    for step in &transcript.steps {
        match step {
            Step::Host(line) => narrator.host(line),
            Step::Program(line) => narrator.program(line),
            Step::Note(note) => narrator.write(format_args!("host    {note}")),
            Step::Exit(code) => {
                narrator.write(format_args!("exit    {code}"));
                if narrator.is_asking {
                    narrator.finish(Some(Exit::Code(*code)));
                }
            }
        }
    }
    Narration {
        text: narrator.text,
        queries: narrator.queries,
    }
}

#[derive(Default)]
struct Narrator {
    text: String,
    reader: LineReader,
    translator: Translator,
    phase: Option<SessionPhase>,
    /// Whether a sent prompt has no end yet.
    is_asking: bool,
    events: Vec<StreamEvent>,
    queries: Vec<Query>,
    /// The calls of open hook requests.
    questions: Vec<(String, String)>,
}

impl Narrator {
    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("text");
    }

    fn host(&mut self, line: &str) {
        let sent: Value = serde_json::from_str(line).expect("the host writes JSON");
        match sent["type"].as_str() {
            Some("user") => {
                let content = short(sent["message"]["content"].as_str().unwrap_or("blocks"));
                self.write(format_args!("host    prompt {content}"));
                if !self.is_asking {
                    self.is_asking = true;
                    self.translator.start_query();
                }
            }
            Some("control_request") => {
                let subtype = &sent["request"]["subtype"];
                self.write(format_args!("host    asks {subtype}"));
                if subtype == "initialize" {
                    self.is_asking = true;
                    self.translator.start_query();
                } else if subtype == "interrupt" {
                    self.translator.record_stop(HostAction::Stopped);
                }
            }
            Some("control_response") => {
                let response = &sent["response"];
                self.write(format_args!("host    answers {}", answer(response)));
                self.note_answer(response);
            }
            other => panic!("the host sent {other:?}"),
        }
    }

    fn note_answer(&mut self, response: &Value) {
        let id = response["request_id"].as_str();
        let body = &response["response"];
        let denies = body["hookSpecificOutput"]["permissionDecision"] == "deny"
            || body["decision"] == "block"
            || body["behavior"] == "deny";
        let about = self
            .questions
            .iter()
            .find(|(call_id, _)| Some(call_id.as_str()) == id);
        if let (true, Some((_, call))) = (denies, about) {
            self.translator.record_denial(call);
        }
        if body["interrupt"] == true {
            self.translator.record_stop(HostAction::Stopped);
        }
    }

    fn program(&mut self, text: &str) {
        self.reader.feed(text.as_bytes());
        self.reader.feed(b"\n");
        let lines = self.reader.take_lines().expect("a short line");
        let [line] = lines.as_slice() else {
            panic!("not one line: {text}");
        };
        let message = line.parse();
        self.note_question(&message, text);
        let about = describe(line, &message);
        if !self.is_asking {
            self.write(format_args!("        {about} (after the end)"));
            return;
        }
        let before = self.events.len();
        self.translator.observe(&message, &mut self.events);
        self.write(format_args!("        {about}"));
        let lines: Vec<String> = self.events[before..].iter().map(event).collect();
        for line in lines {
            self.write(format_args!("           > {line}"));
        }
        let phase = self.translator.phase();
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            self.write(format_args!("           = {phase:?}"));
        }
        if phase == SessionPhase::Over {
            self.finish(None);
        }
    }

    fn note_question(&mut self, message: &Message<'_>, text: &str) {
        let Message::ControlRequest(request) = message else {
            return;
        };
        let raw = raw_value(text);
        let call = match &request.content {
            RequestContent::Hook(_) => raw["request"]["input"]["tool_use_id"].as_str(),
            RequestContent::CanUseTool => raw["request"]["tool_use_id"].as_str(),
            _ => None,
        };
        if let Some(call) = call {
            self.questions
                .push((request.request_id.to_string(), call.to_owned()));
        }
    }

    fn finish(&mut self, exit: Option<Exit>) {
        let now = "2026-11-15T00:30:00Z".parse().expect("a time");
        let finished = self.translator.finish(exit, "", now);
        for last in &finished.events {
            let line = event(last);
            self.write(format_args!("           > {line}"));
        }
        let end = match &finished.end {
            Ok(end) => event(end),
            Err(error) => format!("error {}: {error}", error.code()),
        };
        self.write(format_args!("end     {end}"));
        self.is_asking = false;
        self.phase = None;
        self.queries.push(Query {
            events: std::mem::take(&mut self.events),
            finished,
        });
    }
}
