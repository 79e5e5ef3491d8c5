//! `AnswerStream`, which prints the answer of an agent as it arrives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_app::text::{Activity, format_tool_count, lines, sanitize};
use autonoe_core::agent::{CostTotal, ModelPart};
use autonoe_core::event::{SpanContext, SpanId};
use autonoe_core::gate::GateDecision;
use autonoe_core::session::PerformedSession;
use autonoe_core::time::format_duration;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{RunEvent, RunEventKind, RunObserver, StreamEvent};

use super::debug_lines::debug_line;
use super::denial_summary::DeniedCall;
use super::presenter::{Presenter, TransientChange, transient_change};
use super::screen::Screen;
use crate::error::CliError;
use crate::report::thousands;
use crate::results::WriteError;

/// Prints the text of the main agent to standard output, and everything else to standard error.
#[derive(Debug)]
pub(crate) struct AnswerStream {
    screen: Screen,
    presenter: Arc<Presenter>,
    output: AnswerOutput,
    state: Mutex<State>,
}

/// Output of the agent's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerOutput {
    /// The text goes to standard output.
    Words,
    /// The text is not printed, because standard output has the events.
    None,
}

#[derive(Debug, Default)]
struct State {
    words: AnswerText,
    activity: Activity,
    denied: Vec<DeniedCall>,
    unwritten: Option<WriteError>,
}

impl AnswerStream {
    pub(crate) fn new(screen: Screen, presenter: Arc<Presenter>, output: AnswerOutput) -> Self {
        Self {
            screen,
            presenter,
            output,
            state: Mutex::default(),
        }
    }

    /// Prints the prompt of a chat.
    pub(crate) fn print_prompt(&self) {
        self.screen.clear();
        self.screen.write("> ");
    }

    /// Returns the denied calls since the previous invocation, and forgets them.
    pub(crate) fn take_denied(&self) -> Vec<DeniedCall> {
        std::mem::take(&mut self.state().denied)
    }

    /// Returns an error if a part of the answer could not be written. A closed pipe is not an
    /// error.
    pub(crate) fn check_written(&self) -> Result<(), CliError> {
        match self.state().unwritten.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for AnswerStream {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut state = self.state();
        if let RunEventKind::SessionStarted { .. } = event.kind {
            state.activity = Activity::default();
            self.screen.reset_clock();
        }
        if let RunEventKind::ToolDecided { call, decision } = &event.kind
            && let GateDecision::Deny { remedy, .. } = decision
        {
            state.denied.push(DeniedCall {
                tool: call.name.clone(),
                target: call.kind.target(),
                remedy: remedy.clone(),
            });
        }
        if self.output == AnswerOutput::Words
            && let Some(text) = state.words.next(&event.span, &event.kind)
            && let Err(error) = self.screen.write_answer(&text)
        {
            state.unwritten = Some(error);
        }
        if !(self.output == AnswerOutput::Words && is_main_agent_text(&event.kind)) {
            self.presenter.print_line(debug_line(&event.kind));
        }
        if !is_session_boundary(&event.kind) {
            for line in lines(event, state.activity.tools()) {
                self.presenter.print_line(Some(line));
            }
        }
        match transient_change(&event.kind, &mut state.activity) {
            TransientChange::Keep => {}
            TransientChange::Show(about, text) => self.screen.show_transient(about, &text),
            TransientChange::Clear => self.screen.clear(),
        }
    }
}

/// Returns whether an event is text of the main agent, which is its answer.
fn is_main_agent_text(kind: &RunEventKind<'_>) -> bool {
    matches!(
        kind,
        RunEventKind::Agent {
            stream: StreamEvent::Text { agent: None, .. }
        }
    )
}

/// Returns whether an event is the start or the end of the session. The command itself prints the
/// result.
fn is_session_boundary(kind: &RunEventKind<'_>) -> bool {
    matches!(
        kind,
        RunEventKind::FlowStarted { .. }
            | RunEventKind::SessionStarted { .. }
            | RunEventKind::SessionEnded { .. }
            | RunEventKind::BudgetNearlySpent { .. }
            | RunEventKind::BudgetSpent { .. }
    )
}

/// Extracts the text of the main agent from the events of a session, without duplicates.
///
/// Some backends emit the chunks of a model's answer and then the whole text, others only the text.
#[derive(Debug, Default)]
struct AnswerText {
    session: Option<SpanId>,
    /// Chunks that no text event has repeated yet.
    chunks: String,
    has_open_line: bool,
}

impl AnswerText {
    /// Returns the next text to print, if any.
    fn next(&mut self, span: &SpanContext, kind: &RunEventKind<'_>) -> Option<String> {
        let is_main_model = self.session.is_some() && span.parent == self.session;
        let text = match kind {
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
        // Tabs are kept, because the answer may be a Makefile.
        let harmless_parts: Vec<_> = text.split('\t').map(sanitize).collect();
        Some(harmless_parts.join("\t"))
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

/// Formats the usage of an answer: `$0.0123, 14s, 3 tools, 8,412 tokens`.
///
/// `total` is the cost of the whole conversation, if it has more than one answer.
pub(crate) fn cost_line(performed: &PerformedSession, total: Option<CostTotal>) -> String {
    let result = &performed.result;
    let is_answered =
        |status: &Option<ToolStatus>| matches!(status, Some(ToolStatus::Ok | ToolStatus::Error));
    let calls = performed.tool_calls.iter();
    let tools = calls.filter(|call| is_answered(&call.status)).count();
    let mut parts = vec![
        cost(&result.cost),
        format_duration(result.duration),
        format_tool_count(u32::try_from(tools).unwrap_or(u32::MAX)),
    ];
    if result.tokens.total() > 0 {
        parts.push(format!("{} tokens", thousands(result.tokens.total())));
    }
    if let Some(total) = total {
        parts.push(format!("{} in total", cost(&total)));
    }
    parts.join(", ")
}

/// Formats a cost, which may be unknown.
pub(crate) fn cost(cost: &CostTotal) -> String {
    if *cost == CostTotal::unknown() {
        "cost unknown".to_owned()
    } else {
        cost.to_string()
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::{ModelCallRequest, ModelMessages, SessionReport, TokenUsage};
    use autonoe_core::event::{Failure, InstructionName, TraceId};
    use serde_json::{Value, json};

    use super::*;

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

    /// Returns the printed texts for `events`, separated by `|`.
    fn printed(events: &[Event]) -> String {
        let session = SpanContext::root(TraceId(1), SpanId(1)).child(SpanId(2));
        let (model, tool) = (session.child(SpanId(3)), session.child(SpanId(4)));
        let mut words = AnswerText::default();
        let ask = InstructionName::new("ask");
        words.next(
            &session,
            &RunEventKind::SessionStarted {
                number: 1,
                instruction: &ask,
                model: None,
            },
        );
        let (error, result) = (
            Failure::retryable("model_failed", "it failed"),
            SessionReport::completed(),
        );
        let none = || Value::Null;
        let asked = ModelCallRequest::new("m", ModelMessages::new(0, &none));
        let mut prints = Vec::new();
        for event in events {
            let chunk = |part, text: &'static str| RunEventKind::ModelChunk { part, text };
            let stream = match event {
                Text(text) => StreamEvent::text(*text),
                TextOfHelper(text) => StreamEvent::text(*text).by_agent("helper"),
                _ => StreamEvent::tool_invocation("1", "Read", json!({})),
            };
            let (span, kind) = match event {
                Chunk(text) => (&model, chunk(ModelPart::Text, text)),
                Thought(text) => (&model, chunk(ModelPart::Thinking, text)),
                ChunkOfHelper(text) => (&tool.child(SpanId(5)), chunk(ModelPart::Text, text)),
                ModelStarts => (&model, RunEventKind::ModelStarted { request: &asked }),
                ModelFails => (
                    &model,
                    RunEventKind::ModelFailed {
                        error: &error,
                        tokens: TokenUsage::default(),
                    },
                ),
                Text(_) | TextOfHelper(_) => (&session, RunEventKind::Agent { stream: &stream }),
                Tool => (&tool, RunEventKind::Agent { stream: &stream }),
                Ends => (
                    &session,
                    RunEventKind::SessionEnded {
                        number: 1,
                        result: &result,
                    },
                ),
            };
            prints.extend(words.next(span, &kind));
        }
        prints.join("|")
    }

    #[test]
    fn each_word_of_the_main_agent_is_printed_once() {
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
            (&[Text("a\tb\u{1b}[2J\r\n")], "a\tb [2J \n"),
            (&[Ends], ""),
        ] {
            assert_eq!(printed(events), expected);
        }
    }

    #[test]
    fn an_unknown_cost_is_not_printed_as_zero() {
        let mut total = CostTotal::unknown();
        assert_eq!(cost(&total), "cost unknown");

        total.add("0.25".parse().ok());
        assert_eq!(cost(&total), "at least $0.25 (1 cost unknown)");
        assert_eq!(cost(&CostTotal::default()), "$0.00");
    }
}
