//! From what an agent tells to the events of a stream.

use autonoe_core::{StreamEvent, ToolStatus};
use serde_json::Value;

use super::calls::Calls;
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
        self.calls.prompted();
    }

    /// Returns what an update means.
    pub(crate) fn observe(&mut self, update: Update) -> Vec<StreamEvent> {
        let mut events = match &update {
            Update::Call(news) => self.catch_up(|id| id != news.id),
            Update::Text(_) | Update::Thought(_) => self.catch_up(|_| true),
            Update::Other(_) => Vec::new(),
        };
        match update {
            Update::Text(text) if text.is_empty() => {}
            Update::Text(text) => {
                self.has_spoken |= !text.trim().is_empty();
                events.push(StreamEvent::text(text));
            }
            Update::Thought(text) => events.push(StreamEvent::thinking(text)),
            Update::Call(news) => events.extend(self.observe_call(&news)),
            Update::Other(update) => {
                tracing::trace!(name = %update["sessionUpdate"], "an update that means nothing here");
            }
        }
        events
    }

    fn observe_call(&mut self, told: &CallNews) -> Vec<StreamEvent> {
        let Some(news) = self.calls.mention(told) else {
            self.look_at_what_is_over(told);
            return Vec::new();
        };
        let mut events = Vec::new();
        if !is_still_being_written(&news) {
            events.extend(self.shown(&news));
        }
        let status = match news.status {
            Some(CallStatus::Completed) => ToolStatus::Ok,
            Some(CallStatus::Failed) => ToolStatus::Error,
            Some(CallStatus::Open) | None => return events,
        };
        if self.calls.end(&news.id, status) {
            // What was shown with the question is not what came of it.
            events.push(StreamEvent::tool_response(&news.id, output(told), status));
        }
        events
    }

    /// The agent asks about a call: returns the call, and what it means if nobody heard of it.
    pub(crate) fn asked(&mut self, news: &CallNews) -> (Described, Vec<StreamEvent>) {
        let mut events = self.catch_up(|id| id != news.id);
        let Some(news) = self.calls.mention(news) else {
            // What it would do now, nobody knows: what was told of it is past.
            let described = self.dialect.describe(news, &self.servers);
            return (described.of_the_past(), events);
        };
        events.extend(self.shown(&news));
        (self.dialect.describe(&news, &self.servers), events)
    }

    /// A call was refused. Agents tell no end of such a call.
    pub(crate) fn denied(&mut self, id: &str, reason: &str) -> Vec<StreamEvent> {
        let is_news = self.calls.end(id, ToolStatus::Denied);
        let event = StreamEvent::tool_response(id, reason, ToolStatus::Denied);
        is_news.then_some(event).into_iter().collect()
    }

    /// The turn is over: what was begun and has no end gets one.
    pub(crate) fn over(&mut self) -> Vec<StreamEvent> {
        let mut events = self.catch_up(|_| true);
        for id in self.calls.open() {
            self.calls.end(&id, ToolStatus::Error);
            let output = "the turn ended before the call did";
            events.push(StreamEvent::tool_response(id, output, ToolStatus::Error));
        }
        events
    }

    /// Tells whether a call is under way.
    pub(crate) fn is_calling(&self) -> bool {
        self.calls.any_open()
    }

    /// Tells whether the turn that `answer` ends has ended without the last word of a model.
    pub(crate) fn is_wordless(&self, answer: &Value) -> bool {
        let may_be_silent = self.has_acted && !self.dialect.always_has_the_last_word();
        !(self.has_spoken || may_be_silent) || self.dialect.says_no_model_answered(answer)
    }

    /// Shows the calls that were not shown yet and whose ids are `meant`.
    fn catch_up(&mut self, meant: impl Fn(&str) -> bool) -> Vec<StreamEvent> {
        let unseen = self.calls.unseen().into_iter();
        let unseen = unseen.filter(|news| meant(&news.id));
        unseen.filter_map(|news| self.shown(&news)).collect()
    }

    fn shown(&mut self, news: &CallNews) -> Option<StreamEvent> {
        if !self.calls.show(&news.id) {
            return None;
        }
        // What it said before the call was not its last word.
        (self.has_spoken, self.has_acted) = (false, true);
        let Described { name, input, .. } = self.dialect.describe(news, &self.servers);
        Some(StreamEvent::tool_invocation(&news.id, name, input))
    }

    /// Notices an agent that does what was refused.
    fn look_at_what_is_over(&self, told: &CallNews) {
        let was_denied = self.calls.how_it_ended(&told.id) == Some(ToolStatus::Denied);
        if was_denied && told.status == Some(CallStatus::Completed) {
            tracing::warn!(call = %told.id, "an agent says that a call was made which was refused");
        }
    }
}

/// Tells whether a model is still writing the input of a call, as far as an agent shows that: it
/// tells an input, and there is nothing in it.
fn is_still_being_written(news: &CallNews) -> bool {
    let is_empty = news.input.as_ref().and_then(Value::as_object);
    news.status == Some(CallStatus::Open) && is_empty.is_some_and(serde_json::Map::is_empty)
}

/// Returns what the agent was given, as far as that is told.
fn output(news: &CallNews) -> String {
    match &news.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) if news.texts.iter().flatten().next().is_none() => output.to_string(),
        _ => news
            .texts
            .iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("\n"),
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
        let (mut told, mut spending) = (Vec::new(), Spending::new());
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
                    assert!(!translator.is_wordless(&message["result"]));
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
            assert!(translator.is_wordless(&Value::Null));
            translator.observe(Update::Text("I will.".to_owned()));
            assert!(!translator.is_wordless(&Value::Null));

            translator.observe(call());

            assert_eq!(
                translator.is_wordless(&Value::Null),
                after_the_call,
                "{dialect:?}"
            );
        }
    }

    #[test]
    fn words_are_not_the_last_ones_if_no_model_came_to_an_end() {
        let answer = |tokens: u64| {
            serde_json::json!({"stopReason": "end_turn", "_meta": {"quota": {"token_count":
                {"input_tokens": tokens, "output_tokens": 0}, "model_usage": []}}})
        };
        let mut translator = Translator::new(Dialect::Gemini, Vec::new());
        translator.observe(Update::Text("I will".to_owned()));

        assert!(translator.is_wordless(&answer(0)));
        assert!(!translator.is_wordless(&answer(7)));
    }

    #[test]
    fn a_call_whose_input_is_still_written_is_shown_when_it_is_known() {
        let call = |input: Value, status| {
            Update::Call(CallNews {
                id: "c".to_owned(),
                kind: Some("execute".to_owned()),
                input: Some(input),
                status,
                ..CallNews::default()
            })
        };
        let begun = || call(serde_json::json!({}), Some(CallStatus::Open));
        let shown = |input: Value| StreamEvent::tool_invocation("c", "Bash", input);
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        assert_eq!(translator.observe(begun()), []);

        let input = serde_json::json!({"command": "ls"});
        let events = translator.observe(call(input.clone(), None));

        assert_eq!(events, [shown(input)]);

        // Nobody waits for it longer than the agent is silent.
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        translator.observe(begun());
        let events = translator.observe(Update::Text("x".to_owned()));
        assert_eq!(events[0], shown(serde_json::json!({})));
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        translator.observe(begun());
        assert_eq!(translator.over().len(), 2);
    }
}
