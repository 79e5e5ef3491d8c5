//! [`Translator`] of an agent's updates to stream events.

use autonoe_core::StreamEvent;
use autonoe_core::tool::ToolStatus;
use serde_json::Value;

use super::calls::Calls;
use super::dialect::{DescribedCall, Dialect};
use crate::wire::{CallStatus, CallUpdate, Update};

/// Translates the updates of an agent to stream events.
///
/// A call is reported with its first message, whether that is a `tool_call`, a permission request,
/// or even its end.
#[derive(Debug)]
pub(crate) struct Translator {
    dialect: Dialect,
    /// The MCP servers of the session.
    servers: Vec<String>,
    calls: Calls,
    has_text: bool,
    has_calls: bool,
}

impl Translator {
    pub(crate) fn new(dialect: Dialect, servers: Vec<String>) -> Self {
        Self {
            dialect,
            servers,
            calls: Calls::default(),
            has_text: false,
            has_calls: false,
        }
    }

    /// Starts a new turn. It is called when a prompt is sent.
    pub(crate) fn start_turn(&mut self) {
        (self.has_text, self.has_calls) = (false, false);
        self.calls.start_turn();
    }

    /// Returns the events of an update.
    pub(crate) fn observe(&mut self, update: Update) -> Vec<StreamEvent> {
        let mut events = match &update {
            Update::Call(call_update) => self.report_pending_calls(|id| id != call_update.id),
            Update::Text(_) | Update::Thought(_) => self.report_pending_calls(|_| true),
            Update::Other(_) => Vec::new(),
        };
        match update {
            Update::Text(text) if text.is_empty() => {}
            Update::Text(text) => {
                self.has_text |= !text.trim().is_empty();
                events.push(StreamEvent::text(text));
            }
            Update::Thought(text) => events.push(StreamEvent::thinking(text)),
            Update::Call(call_update) => events.extend(self.observe_call(&call_update)),
            Update::Other(update) => {
                tracing::trace!(name = %update["sessionUpdate"], "ignored an update");
            }
        }
        events
    }

    fn observe_call(&mut self, update: &CallUpdate) -> Vec<StreamEvent> {
        let Some(call_update) = self.calls.update(update) else {
            self.warn_if_denied_call_ran(update);
            return Vec::new();
        };
        let mut events = Vec::new();
        if !is_still_being_written(&call_update) {
            events.extend(self.report_call(&call_update));
        }
        let status = match call_update.status {
            Some(CallStatus::Completed) => ToolStatus::Ok,
            Some(CallStatus::Failed) => ToolStatus::Error,
            Some(CallStatus::Open) | None => return events,
        };
        if self.calls.end(&call_update.id, status) {
            // The texts that came with the permission request are not the output.
            events.push(StreamEvent::tool_response(
                &call_update.id,
                output(update),
                status,
            ));
        }
        events
    }

    /// Handles a permission request: returns the call, and its events if it is new.
    pub(crate) fn permission_requested(
        &mut self,
        call_update: &CallUpdate,
    ) -> (DescribedCall, Vec<StreamEvent>) {
        let mut events = self.report_pending_calls(|id| id != call_update.id);
        let Some(call_update) = self.calls.update(call_update) else {
            // The effect of the call is unknown: earlier updates of this id were about a finished
            // call.
            let described = self.dialect.describe(call_update, &self.servers);
            return (described.into_finished(), events);
        };
        events.extend(self.report_call(&call_update));
        (self.dialect.describe(&call_update, &self.servers), events)
    }

    /// Handles a denied call. Agents report no end of such a call.
    pub(crate) fn call_denied(&mut self, id: &str, reason: &str) -> Vec<StreamEvent> {
        let is_news = self.calls.end(id, ToolStatus::Denied);
        let event = StreamEvent::tool_response(id, reason, ToolStatus::Denied);
        is_news.then_some(event).into_iter().collect()
    }

    /// Ends the turn: every call without an end gets one.
    pub(crate) fn end_turn(&mut self) -> Vec<StreamEvent> {
        let mut events = self.report_pending_calls(|_| true);
        for id in self.calls.open() {
            self.calls.end(&id, ToolStatus::Error);
            let output = "the turn ended before the call did";
            events.push(StreamEvent::tool_response(id, output, ToolStatus::Error));
        }
        events
    }

    /// Returns whether a call is running.
    pub(crate) fn has_running_call(&self) -> bool {
        self.calls.any_open()
    }

    /// Returns whether the turn that `answer` ends has ended without a final text of a model.
    pub(crate) fn ends_without_text(&self, answer: &Value) -> bool {
        let may_be_silent = self.has_calls && !self.dialect.always_ends_with_text();
        !(self.has_text || may_be_silent) || self.dialect.lacks_model_answer(answer)
    }

    /// Reports the running calls that were not reported yet and whose ids are `is_selected`.
    fn report_pending_calls(&mut self, is_selected: impl Fn(&str) -> bool) -> Vec<StreamEvent> {
        let unreported = self.calls.unreported().into_iter();
        unreported
            .filter(|call_update| is_selected(&call_update.id))
            .filter_map(|call_update| self.report_call(&call_update))
            .collect()
    }

    fn report_call(&mut self, call_update: &CallUpdate) -> Option<StreamEvent> {
        if !self.calls.mark_reported(&call_update.id) {
            return None;
        }
        // Text before a call is not the final text.
        (self.has_text, self.has_calls) = (false, true);
        let DescribedCall { name, input, .. } = self.dialect.describe(call_update, &self.servers);
        Some(StreamEvent::tool_invocation(&call_update.id, name, input))
    }

    /// Logs an agent that executes a denied call.
    fn warn_if_denied_call_ran(&self, update: &CallUpdate) {
        let was_denied = self.calls.status(&update.id) == Some(ToolStatus::Denied);
        if was_denied && update.status == Some(CallStatus::Completed) {
            tracing::warn!(
                call = %update.id,
                "the agent reports that it ran a denied call"
            );
        }
    }
}

/// Returns whether a model is still writing the input of a call, as far as the agent shows that: it
/// sends an empty object as the input.
fn is_still_being_written(call_update: &CallUpdate) -> bool {
    let is_empty = call_update.input.as_ref().and_then(Value::as_object);
    call_update.status == Some(CallStatus::Open) && is_empty.is_some_and(serde_json::Map::is_empty)
}

/// Returns the output of the call, as far as the agent reports it.
fn output(call_update: &CallUpdate) -> String {
    match &call_update.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) if call_update.texts.iter().flatten().next().is_none() => output.to_string(),
        _ => call_update
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
    use crate::events::UsageTracker;
    use crate::wire::Permission;

    /// Recorded lines of the real program; the project is `/srv/project`.
    const RECORDED: &str = include_str!("../../tests/recorded/gemini-cli-0.61.0.jsonl");

    // Shows: framework/callbacks/acp-model-calls, framework/callbacks/inputs-of-acp-calls
    #[test]
    fn recorded_lines_are_translated_to_events() {
        let mut translator = Translator::new(Dialect::Gemini, vec!["autonoe".to_owned()]);
        let (mut stream_events, mut usage_tracker) = (Vec::new(), UsageTracker::new());
        for line in RECORDED.lines() {
            let message: Value = serde_json::from_str(line).expect("JSON");
            match message["method"].as_str() {
                Some("session/update") => {
                    stream_events.extend(translator.observe(Update::parse(&message["params"])));
                }
                Some(_) => {
                    let permission = Permission::parse(&message["params"]);
                    assert!(permission.can_allow_once(), "{line}");
                    let (_, events) =
                        translator.permission_requested(&permission.call.expect("a call"));
                    stream_events.extend(events);
                }
                None => {
                    assert!(!translator.ends_without_text(&message["result"]));
                    let tokens = usage_tracker.turn_usage(&message["result"]);
                    stream_events.push(StreamEvent::usage(tokens.expect("they are told"), None));
                    stream_events.extend(translator.end_turn());
                    translator.start_turn();
                }
            }
        }

        insta::assert_json_snapshot!(stream_events);
    }

    #[test]
    fn a_denied_call_has_one_end() {
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        let call_update = CallUpdate {
            id: "c".to_owned(),
            ..CallUpdate::default()
        };
        translator.permission_requested(&call_update);

        let denied = translator.call_denied("c", "no");
        let ended = CallUpdate {
            status: Some(CallStatus::Failed),
            ..call_update
        };
        let late = translator.observe(Update::Call(ended));

        assert_eq!(denied.len(), 1);
        assert_eq!((late, translator.end_turn()), (Vec::new(), Vec::new()));
        assert!(!translator.has_running_call());
    }

    #[test]
    fn final_text_must_follow_the_last_call() {
        let call = || {
            Update::Call(CallUpdate {
                id: "c".to_owned(),
                ..CallUpdate::default()
            })
        };
        for (dialect, after_the_call) in [(Dialect::Gemini, true), (Dialect::Plain, false)] {
            let mut translator = Translator::new(dialect, Vec::new());
            assert!(translator.ends_without_text(&Value::Null));
            translator.observe(Update::Text("I will.".to_owned()));
            assert!(!translator.ends_without_text(&Value::Null));

            translator.observe(call());

            assert_eq!(
                translator.ends_without_text(&Value::Null),
                after_the_call,
                "{dialect:?}"
            );
        }
    }

    #[test]
    fn text_is_not_final_without_a_complete_model_answer() {
        let answer = |tokens: u64| {
            serde_json::json!({"stopReason": "end_turn", "_meta": {"quota": {"token_count":
                {"input_tokens": tokens, "output_tokens": 0}, "model_usage": []}}})
        };
        let mut translator = Translator::new(Dialect::Gemini, Vec::new());
        translator.observe(Update::Text("I will".to_owned()));

        assert!(translator.ends_without_text(&answer(0)));
        assert!(!translator.ends_without_text(&answer(7)));
    }

    #[test]
    fn a_call_is_reported_once_its_input_is_known() {
        let call = |input: Value, status| {
            Update::Call(CallUpdate {
                id: "c".to_owned(),
                kind: Some("execute".to_owned()),
                input: Some(input),
                status,
                ..CallUpdate::default()
            })
        };
        let without_input = || call(serde_json::json!({}), Some(CallStatus::Open));
        let invocation = |input: Value| StreamEvent::tool_invocation("c", "Bash", input);
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        assert_eq!(translator.observe(without_input()), []);

        let input = serde_json::json!({"command": "ls"});
        let events = translator.observe(call(input.clone(), None));

        assert_eq!(events, [invocation(input)]);

        // The agent's silence limits the wait for it.
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        translator.observe(without_input());
        let events = translator.observe(Update::Text("x".to_owned()));
        assert_eq!(events[0], invocation(serde_json::json!({})));
        let mut translator = Translator::new(Dialect::Plain, Vec::new());
        translator.observe(without_input());
        assert_eq!(translator.end_turn().len(), 2);
    }
}
