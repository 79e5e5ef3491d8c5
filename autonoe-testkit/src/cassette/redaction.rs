//! Removes secrets from recorded sessions.

use std::collections::BTreeSet;

use autonoe_core::tool::McpServer;
use autonoe_core::{SessionSpec, StreamEvent};
use serde_json::{Map, Value};

use super::format::{Cassette, RecordedFailure, RecordedItem};

const REDACTED: &str = "[redacted]";

/// Shorter environment values are switches such as `1` and `yes`: they hide nothing, and redacting
/// them would make the cassette unreadable.
const MIN_ENV_SECRET_LEN: usize = 4;

/// Fields of an event that Autonoe sets itself. They contain no secrets, and the event could not be
/// parsed without them.
const OWN_FIELDS: [&str; 6] = ["type", "status", "outcome", "costUsd", "tokens", "resetsAt"];

/// Texts to redact.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    texts: BTreeSet<String>,
}

impl Secrets {
    /// Adds a text, unless it is empty.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.texts.insert(secret.to_owned());
        // Tool outputs are JSON, in which quotes and line breaks are escaped.
        let quoted = Value::from(secret).to_string();
        self.texts.insert(quoted[1..quoted.len() - 1].to_owned());
    }

    /// Adds the values of the environments and headers of `spec`.
    pub(super) fn add_environment(&mut self, spec: &SessionSpec) {
        let servers = spec.mcp_servers.values().flat_map(|server| match server {
            McpServer::Stdio { env, .. } => env.values(),
            McpServer::Remote { headers, .. } => headers.values(),
            _ => Default::default(),
        });
        for value in spec.environment.values().chain(servers) {
            if value.len() >= MIN_ENV_SECRET_LEN {
                self.add(value);
            }
        }
    }

    /// Replaces every secret in `cassette`.
    pub(super) fn redact(&self, cassette: &mut Cassette) {
        if let Some(backend) = &mut cassette.backend {
            self.text(&mut backend.backend);
            self.texts(&mut backend.version);
        }
        for session in &mut cassette.sessions {
            self.texts(&mut session.model);
            self.texts(&mut session.tools);
            if let Some(refused) = &mut session.refused {
                self.failure(refused);
            }
            for turn in &mut session.turns {
                self.text(&mut turn.prompt);
                for item in &mut turn.stream {
                    match item {
                        RecordedItem::Event(event) => *event = self.event(event),
                        RecordedItem::Error(error) => self.failure(error),
                    }
                }
            }
        }
    }

    fn failure(&self, failure: &mut RecordedFailure) {
        self.text(&mut failure.message);
        self.texts(&mut failure.cause);
        self.texts(&mut failure.remedy);
    }

    fn event(&self, event: &StreamEvent) -> StreamEvent {
        let left_out = || StreamEvent::warning("an event that could not be redacted was left out");
        let Ok(Value::Object(mut fields)) = serde_json::to_value(event) else {
            return left_out();
        };
        for (name, value) in &mut fields {
            if !OWN_FIELDS.contains(&name.as_str()) {
                self.value(value);
            }
        }
        serde_json::from_value(Value::Object(fields)).unwrap_or_else(|_| left_out())
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.texts.contains(&number.to_string()) {
                    *value = Value::from(REDACTED);
                }
            }
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                let all: Map<String, Value> = std::mem::take(fields)
                    .into_iter()
                    .map(|(mut name, mut value)| {
                        self.text(&mut name);
                        self.value(&mut value);
                        (name, value)
                    })
                    .collect();
                *fields = all;
            }
        }
    }

    fn texts<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        for text in texts {
            self.text(text);
        }
    }

    fn text(&self, text: &mut String) {
        let mut by_length: Vec<&String> = self.texts.iter().collect();
        // The longest first: after a part of a secret is replaced, the rest would no longer match.
        by_length.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in by_length {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), REDACTED);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(texts: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for text in texts {
            secrets.add(text);
        }
        secrets
    }

    #[test]
    fn names_values_and_numbers_of_an_input_are_redacted() {
        let input = json!({"hunter2": ["a hunter2 b", {"pin": 4711}], "port": 80});
        let event = StreamEvent::tool_invocation("call", "Write", input);

        let redacted = secrets(&["hunter2", "4711"]).event(&event);

        let input = json!({"[redacted]": ["a [redacted] b", {"pin": "[redacted]"}], "port": 80});
        assert_eq!(
            redacted,
            StreamEvent::tool_invocation("call", "Write", input)
        );
    }

    #[test]
    fn a_secret_that_holds_another_is_redacted_whole() {
        let mut text = "abc-def abc".to_owned();

        secrets(&["abc", "abc-def"]).text(&mut text);

        assert_eq!(text, "[redacted] [redacted]");
    }

    #[test]
    fn a_secret_in_json_in_a_text_is_redacted() {
        let mut text = json!({"key": "two\nlines"}).to_string();

        secrets(&["two\nlines"]).text(&mut text);

        assert_eq!(text, r#"{"key":"[redacted]"}"#);
    }

    #[test]
    fn redaction_keeps_the_shape_of_an_event() {
        let event = StreamEvent::tool_response("call", "ok", autonoe_core::tool::ToolStatus::Ok);

        let redacted = secrets(&["ok"]).event(&event);

        let expected =
            StreamEvent::tool_response("call", "[redacted]", autonoe_core::tool::ToolStatus::Ok);
        assert_eq!(redacted, expected);
    }
}
