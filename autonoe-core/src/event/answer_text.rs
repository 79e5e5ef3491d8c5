//! [`AnswerText`], the text of the main agent as it arrives.

use crate::agent::{ModelPart, StreamEvent};
use crate::event::{RunEvent, RunEventKind, SpanId};

/// Assembles the text of the main agent from the events of a session, without duplicates.
///
/// Some backends emit the chunks of a model's answer and then the whole text, others only the text.
/// A program that shows an answer as it arrives passes every event of a run to
/// [`observe`](Self::observe) and appends what it returns.
///
/// ```
/// use autonoe_core::event::AnswerText;
/// use autonoe_core::{RunEvent, RunObserver};
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Window {
///     answer: Mutex<AnswerText>,
///     shown: Mutex<String>,
/// }
///
/// impl RunObserver for Window {
///     fn on_event(&self, event: &RunEvent<'_>) {
///         let text = self.answer.lock().expect("not poisoned").observe(event);
///         if let Some(text) = text {
///             self.shown.lock().expect("not poisoned").push_str(&text);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct AnswerText {
    session: Option<SpanId>,
    /// Chunks that no text event has repeated yet.
    chunks: String,
    has_open_line: bool,
}

impl AnswerText {
    /// Creates an empty text, which each session starts anew.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the text that `event`, the next event of the run, adds.
    ///
    /// A line break separates texts around a tool call, an answer that was repeated, and the
    /// answers of two sessions.
    pub fn observe(&mut self, event: &RunEvent<'_>) -> Option<String> {
        let span = &event.span;
        let is_main_model = self.session.is_some() && span.parent == self.session;
        let text = match &event.kind {
            RunEventKind::SessionStarted { .. } => {
                *self = Self {
                    session: Some(span.span),
                    ..Self::default()
                };
                return None;
            }
            RunEventKind::ModelStarted { .. } if is_main_model => {
                self.chunks.clear();
                return None;
            }
            RunEventKind::ModelChunk {
                part: ModelPart::Text,
                text,
            } if is_main_model => {
                self.chunks.push_str(text);
                (*text).to_owned()
            }
            // A retry repeats the chunks of the failed attempt.
            RunEventKind::ModelFailed { .. } if is_main_model => self.line_break().to_owned(),
            RunEventKind::Agent {
                stream:
                    StreamEvent::Text {
                        text, agent: None, ..
                    },
            } => self.rest_of(text),
            RunEventKind::Agent {
                stream: StreamEvent::ToolInvocation { agent: None, .. },
            }
            | RunEventKind::SessionEnded { .. } => self.line_break().to_owned(),
            _ => return None,
        };
        if text.is_empty() {
            return None;
        }
        self.has_open_line = !text.ends_with('\n');
        Some(text)
    }

    /// Returns the part of `text` that was not among the chunks.
    fn rest_of(&mut self, text: &str) -> String {
        let chunks = std::mem::take(&mut self.chunks);
        // Some backends trim the text but not its chunks.
        let (printed, whole) = match chunks.strip_prefix(text).or(text.strip_prefix(&*chunks)) {
            Some(_) => (chunks.as_str(), text),
            None => (chunks.trim_start(), text.trim_start()),
        };
        if let Some(later) = printed.strip_prefix(whole) {
            later.clone_into(&mut self.chunks);
            return String::new();
        }
        match whole.strip_prefix(printed) {
            Some(rest) => rest.to_owned(),
            None => format!("{}{text}", self.line_break()),
        }
    }

    fn line_break(&self) -> &'static str {
        if self.has_open_line { "\n" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::agent::{ModelCallRequest, ModelMessages, SessionReport, TokenUsage};
    use crate::event::{Failure, InstructionName, SpanContext, TraceId};

    /// An event of a session.
    enum Event {
        Chunk(&'static str),
        Thought(&'static str),
        ChunkOfHelper(&'static str),
        ModelFails,
        ModelStarts,
        Text(&'static str),
        TextOfHelper(&'static str),
        Tool,
        Ends,
    }

    use Event::*;

    /// Returns the texts for `events`, separated by `|`.
    fn texts(events: &[Event]) -> String {
        let session = SpanContext::root(TraceId(1), SpanId(1)).child(SpanId(2));
        let (model, tool) = (session.child(SpanId(3)), session.child(SpanId(4)));
        let mut answer = AnswerText::new();
        let mut text_of = |span: SpanContext, kind: RunEventKind<'_>| {
            let at = Timestamp::UNIX_EPOCH;
            answer.observe(&RunEvent { at, span, kind })
        };
        let ask = InstructionName::new("ask");
        let started = RunEventKind::SessionStarted {
            number: 1,
            instruction: &ask,
            model: None,
        };
        assert_eq!(text_of(session, started), None);
        let (error, result) = (
            Failure::retryable("model_failed", "it failed"),
            SessionReport::completed(),
        );
        let none = || Value::Null;
        let request = ModelCallRequest::new("m", ModelMessages::new(0, &none));
        let mut texts = Vec::new();
        for event in events {
            let chunk = |part, text: &'static str| RunEventKind::ModelChunk { part, text };
            let stream = match event {
                Text(text) => StreamEvent::text(*text),
                TextOfHelper(text) => StreamEvent::text(*text).by_agent("helper"),
                _ => StreamEvent::tool_invocation("1", "Read", json!({})),
            };
            let (span, kind) = match event {
                Chunk(text) => (model, chunk(ModelPart::Text, text)),
                Thought(text) => (model, chunk(ModelPart::Thinking, text)),
                ChunkOfHelper(text) => (tool.child(SpanId(5)), chunk(ModelPart::Text, text)),
                ModelStarts => (model, RunEventKind::ModelStarted { request: &request }),
                ModelFails => (
                    model,
                    RunEventKind::ModelFailed {
                        error: &error,
                        tokens: TokenUsage::default(),
                    },
                ),
                Text(_) | TextOfHelper(_) => (session, RunEventKind::Agent { stream: &stream }),
                Tool => (tool, RunEventKind::Agent { stream: &stream }),
                Ends => (
                    session,
                    RunEventKind::SessionEnded {
                        number: 1,
                        result: &result,
                    },
                ),
            };
            texts.extend(text_of(span, kind));
        }
        texts.join("|")
    }

    // Shows: framework/callbacks/on-answer-stream-stream
    #[test]
    fn each_word_of_the_main_agent_is_returned_once() {
        for (events, expected) in [
            (&[Text("Hel"), Text("lo."), Ends][..], "Hel|lo.|\n"),
            (&[Text("Hello.\n"), Ends], "Hello.\n"),
            (&[Chunk("Hel"), Chunk("lo."), Ends], "Hel|lo.|\n"),
            (
                &[Chunk("Hel"), Chunk("lo."), Text("Hello."), Ends],
                "Hel|lo.|\n",
            ),
            (&[Chunk("Hel"), Text("Hello."), Ends], "Hel|lo.|\n"),
            (
                &[Chunk("\n\nHello."), Text("Hello."), Ends],
                "\n\nHello.|\n",
            ),
            (
                &[Chunk("One."), Chunk("Two."), Text("One."), Text("Two.")],
                "One.|Two.",
            ),
            (
                &[
                    Thought("hm"),
                    ChunkOfHelper("sub"),
                    TextOfHelper("sub"),
                    Text("Hi."),
                ],
                "Hi.",
            ),
            (&[Text("I look."), Tool, Text("Done.")], "I look.|\n|Done."),
            (&[Tool, Text("Done."), Ends], "Done.|\n"),
            (
                &[
                    ModelStarts,
                    Chunk("Hal"),
                    ModelFails,
                    ModelStarts,
                    Chunk("Hello."),
                    Text("Hello."),
                ],
                "Hal|\n|Hello.",
            ),
            // A backend that trims its texts.
            (
                &[
                    Chunk("One.\n"),
                    Text("One."),
                    ModelStarts,
                    Chunk("Two."),
                    Text("Two."),
                ],
                "One.\n|Two.",
            ),
            (&[Chunk("Halo."), Text("Hello.")], "Halo.|\nHello."),
            (&[Ends], ""),
        ] {
            assert_eq!(texts(events), expected);
        }
    }
}
