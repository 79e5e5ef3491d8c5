//! From what an agent tells to the events of a stream.

use autonoe_core::{StreamEvent, ToolStatus};
use serde_json::Value;

use super::calls::{Calls, Mention};
use super::dialect::{Described, Dialect};
use crate::wire::{CallNews, CallStatus, Update};

/// From what an agent tells to the events of a stream.
///
/// A call is shown with whichever message comes first: `tool_call`, a question, or even its end.
#[derive(Debug)]
pub(crate) struct Translator {
    dialect: Dialect,
    /// The MCP servers of the session.
    servers: Vec<String>,
    calls: Calls,
    has_spoken: bool,
    has_acted: bool,
}

impl Translator {
    pub(crate) fn new(dialect: Dialect, servers: Vec<String>) -> Self {
        Self {
            dialect,
            servers,
            calls: Calls::default(),
            has_spoken: false,
            has_acted: false,
        }
    }

    /// A prompt is sent.
    pub(crate) fn prompted(&mut self) {
        (self.has_spoken, self.has_acted) = (false, false);
    }

    /// Returns what an update means.
    pub(crate) fn observe(&mut self, update: Update) -> Vec<StreamEvent> {
        match update {
            Update::Text(text) if text.is_empty() => Vec::new(),
            Update::Text(text) => {
                self.has_spoken |= !text.trim().is_empty();
                vec![StreamEvent::text(text)]
            }
            Update::Thought(text) => vec![StreamEvent::thinking(text)],
            Update::Call(news) => self.observe_call(&news),
            Update::Usage(_) | Update::Other(_) => Vec::new(),
        }
    }

    fn observe_call(&mut self, news: &CallNews) -> Vec<StreamEvent> {
        let (mention, news) = self.calls.mention(news);
        let mut events = Vec::new();
        if mention == Mention::First {
            events.push(self.shown(&news));
        }
        let status = match news.status {
            Some(CallStatus::Completed) => ToolStatus::Ok,
            Some(CallStatus::Failed) => ToolStatus::Error,
            Some(CallStatus::Open) | None => return events,
        };
        if self.calls.end(&news.id) {
            events.push(StreamEvent::tool_response(&news.id, output(&news), status));
        }
        events
    }

    /// The agent asks about a call: returns the call, and what it means if nobody heard of it.
    pub(crate) fn asked(&mut self, news: &CallNews) -> (Described, Vec<StreamEvent>) {
        let (mention, news) = self.calls.mention(news);
        let described = self.dialect.describe(&news, &self.servers);
        let events = match mention {
            Mention::First => vec![self.shown(&news)],
            Mention::Again | Mention::TooLate => Vec::new(),
        };
        (described, events)
    }

    /// A call was refused. Agents tell no end of such a call.
    pub(crate) fn denied(&mut self, id: &str, reason: &str) -> Vec<StreamEvent> {
        let is_news = self.calls.end(id);
        let event = StreamEvent::tool_response(id, reason, ToolStatus::Denied);
        is_news.then_some(event).into_iter().collect()
    }

    /// The turn is over: what was begun and has no end gets one.
    pub(crate) fn over(&mut self) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for id in self.calls.open() {
            self.calls.end(&id);
            let output = "the turn ended before the call did";
            events.push(StreamEvent::tool_response(id, output, ToolStatus::Error));
        }
        events
    }

    /// Tells whether a call is under way.
    pub(crate) fn is_calling(&self) -> bool {
        self.calls.any_open()
    }

    /// Tells whether the turn, if it ended now, would have ended without a word.
    pub(crate) fn is_wordless(&self) -> bool {
        let may_be_silent = self.has_acted && !self.dialect.always_has_the_last_word();
        !self.has_spoken && !may_be_silent
    }

    fn shown(&mut self, news: &CallNews) -> StreamEvent {
        // What it said before the call was not its last word.
        (self.has_spoken, self.has_acted) = (false, true);
        let Described { name, input, .. } = self.dialect.describe(news, &self.servers);
        StreamEvent::tool_invocation(&news.id, name, input)
    }
}

/// Returns what the agent was given, as far as that is told.
fn output(news: &CallNews) -> String {
    match &news.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) if news.texts.is_empty() => output.to_string(),
        _ => news.texts.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Spending;
    use crate::wire::Permission;

    /// Lines of the real program, as they came; the project is `/srv/project`.
    const RECORDED: &str = include_str!("../../tests/recorded/gemini-cli-0.61.0.jsonl");

    #[test]
    fn recorded_lines_are_told_as_they_were_meant() {
        let mut translator = Translator::new(Dialect::Gemini, vec!["autonoe".to_owned()]);
        let (mut told, mut spending) = (Vec::new(), Spending::default());
        for line in RECORDED.lines() {
            let message: Value = serde_json::from_str(line).expect("JSON");
            match message["method"].as_str() {
                Some("session/update") => {
                    told.extend(translator.observe(Update::read(&message["params"])));
                }
                Some(_) => {
                    let asked = Permission::read(&message["params"]);
                    assert!(asked.can_allow_once(), "{line}");
                    let (_, events) = translator.asked(&asked.call.expect("a call"));
                    told.extend(events);
                }
                None => {
                    assert!(!translator.is_wordless());
                    let tokens = spending.of_turn(&message["result"]);
                    told.push(StreamEvent::usage(tokens.expect("they are told"), None));
                    told.extend(translator.over());
                    translator.prompted();
                }
            }
        }

        insta::assert_json_snapshot!(told);
    }

    #[test]
    fn a_call_that_was_refused_has_one_end() {
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        let news = CallNews {
            id: "c".to_owned(),
            ..CallNews::default()
        };
        translator.asked(&news);

        let denied = translator.denied("c", "no");
        let ended = CallNews {
            status: Some(CallStatus::Failed),
            ..news
        };
        let late = translator.observe(Update::Call(ended));

        assert_eq!(denied.len(), 1);
        assert_eq!((late, translator.over()), (Vec::new(), Vec::new()));
        assert!(!translator.is_calling());
    }

    #[test]
    fn the_last_word_counts_only_after_the_last_call() {
        let call = || {
            Update::Call(CallNews {
                id: "c".to_owned(),
                ..CallNews::default()
            })
        };
        for (dialect, after_the_call) in [(Dialect::Gemini, true), (Dialect::Plain, false)] {
            let mut translator = Translator::new(dialect, Vec::new());
            assert!(translator.is_wordless());
            translator.observe(Update::Text("I will.".to_owned()));
            assert!(!translator.is_wordless());

            translator.observe(call());

            assert_eq!(translator.is_wordless(), after_the_call, "{dialect:?}");
        }
    }
}
