//! Reads recorded conversations.

use std::fs;
use std::path::Path;

use autonoe_codex::events::Translator;
use autonoe_codex::wire::{Message, Question};
use autonoe_core::{
    Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec, StreamEvent, ToolStatus, Toolbox,
};
use serde_json::Value;

/// What came of a recorded conversation.
pub(crate) struct Replayed {
    /// What the stream said, in short.
    pub(crate) told: Vec<String>,
    /// What was asked, in short.
    pub(crate) asked: Vec<String>,
}

/// Returns the lines of a conversation: whether the host got it, and what it was.
pub(crate) fn lines(name: &str) -> Vec<(bool, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let text = fs::read_to_string(folder.join(format!("{name}.jsonl"))).expect(name);
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        match line.get("got") {
            Some(got) => (true, got.clone()),
            None => (false, line["sent"].clone()),
        }
    };
    text.lines().map(read).collect()
}

/// Returns the names of all conversations.
pub(crate) fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let entries = fs::read_dir(folder).expect("it is there").flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".jsonl").map(str::to_owned)
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Returns a session to read a conversation in.
pub(crate) fn spec() -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
}

/// Plays what the host got to a translator.
pub(crate) fn replay(name: &str) -> Replayed {
    let lines = lines(name);
    let begun = lines
        .iter()
        .find_map(|(_, line)| line["result"]["thread"]["id"].as_str());
    let mut translator = Translator::new(spec(), begun.expect("a conversation"), None);
    translator.prompted();
    let (mut events, mut asked) = (Vec::new(), Vec::new());
    for (is_got, line) in &lines {
        if !is_got {
            continue;
        }
        match Message::read(&line.to_string()).expect("a message") {
            Message::Notice(notice) => translator.observe(&notice, &mut events),
            Message::Question { question, .. } => asked.push(in_short(&question)),
            Message::Answer { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let (rest, end) = translator.finish(None);
    events.extend(rest);
    let mut told: Vec<String> = events.iter().filter_map(shown).collect();
    told.push(match end {
        Ok(StreamEvent::End { outcome, .. }) => format!("end: {outcome}"),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("error: {}", error.code()),
    });
    Replayed { told, asked }
}

fn in_short(question: &Question) -> String {
    match question {
        Question::Command(question) => format!("command {:?}", question.command),
        Question::FileChange(_) => "patch".to_owned(),
        Question::Elicitation(question) => {
            let arguments = question.tool_arguments();
            format!("server {} {arguments:?}", question.server_name)
        }
        Question::Tool(question) => format!("tool {} {}", question.tool, question.arguments),
        other => format!("{other:?}"),
    }
}

fn shown(event: &StreamEvent) -> Option<String> {
    Some(match event {
        StreamEvent::Started { .. } => "started".to_owned(),
        StreamEvent::Text { text, .. } => format!("says {text}"),
        StreamEvent::Thinking { text, .. } => format!("thinks {text}"),
        StreamEvent::ToolInvocation { name, input, .. } => {
            let input = input
                .get("file_path")
                .or(input.get("command"))
                .unwrap_or(input);
            format!("calls {name} {input}")
        }
        StreamEvent::ToolResponse { output, status, .. } => {
            let status = match status {
                ToolStatus::Ok => "ok",
                ToolStatus::Error => "failed",
                ToolStatus::Denied => "denied",
            };
            format!("{status}: {}", output.lines().next().unwrap_or_default())
        }
        StreamEvent::Usage { tokens, .. } => format!("used {}", tokens.total()),
        StreamEvent::RateLimit { limit, .. } => format!(
            "limit {:?} {:?} {:?}",
            limit.window.as_deref().unwrap_or_default(),
            limit.status,
            limit.used_percent.unwrap_or_default()
        ),
        StreamEvent::Warning { message, .. } => format!("warns {message}"),
        _ => return None,
    })
}
