//! Replays recorded conversations.

use std::fs;
use std::path::Path;

use autonoe_codex::events::Translator;
use autonoe_codex::wire::{Message, ProgramRequest};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{RunId, SessionSpec, StreamEvent};
use serde_json::Value;

/// The result of a replayed conversation.
pub(crate) struct Replayed {
    /// Short descriptions of the stream events.
    pub(crate) descriptions: Vec<String>,
    /// Short descriptions of the requests.
    pub(crate) requests: Vec<String>,
}

/// Returns the lines of a conversation: whether the host received it, and the message.
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

/// Returns a session for a replay.
pub(crate) fn spec() -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
}

/// Replays the received messages to a translator.
pub(crate) fn replay(name: &str) -> Replayed {
    replay_with(name, spec())
}

/// Replays the received messages to the translator of a session.
pub(crate) fn replay_with(name: &str, spec: SessionSpec) -> Replayed {
    let lines = lines(name);
    let thread = lines
        .iter()
        .find_map(|(_, line)| line["result"]["thread"]["id"].as_str());
    let mut translator = Translator::new(spec, thread.expect("a conversation"), None);
    translator.start_turn();
    let (mut events, mut requests) = (Vec::new(), Vec::new());
    for (is_got, line) in &lines {
        if !is_got {
            continue;
        }
        match Message::parse(&line.to_string()).expect("a message") {
            Message::Notification(notification) => translator.observe(&notification, &mut events),
            Message::Request { question, .. } => requests.push(describe_request(&question)),
            Message::Answer { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let (rest, end) = translator.finish(None);
    events.extend(rest);
    let mut descriptions: Vec<String> = events.iter().filter_map(describe_event).collect();
    descriptions.push(match end {
        Ok(StreamEvent::End { outcome, .. }) => format!("end: {outcome}"),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("error: {}", error.code()),
    });
    Replayed {
        descriptions,
        requests,
    }
}

fn describe_request(question: &ProgramRequest) -> String {
    match question {
        ProgramRequest::Command(question) => format!("command {:?}", question.command),
        ProgramRequest::FileChange(_) => "patch".to_owned(),
        ProgramRequest::Elicitation(question) => {
            let arguments = question.tool_arguments();
            format!("server {} {arguments:?}", question.server_name)
        }
        ProgramRequest::Tool(question) => format!("tool {} {}", question.tool, question.arguments),
        other => format!("{other:?}"),
    }
}

fn describe_event(event: &StreamEvent) -> Option<String> {
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
