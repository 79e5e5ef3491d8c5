//! The answer of an agent, printed as it is written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::{
    CostTotal, GateDecision, ModelPart, PerformedSession, RunEvent, RunEventKind, RunObserver,
    SpanContext, SpanId, StreamEvent, ToolStatus, format_duration,
};

use super::activity::{Activity, counted};
use super::debug_lines::debug_line;
use super::denial_summary::DeniedCall;
use super::harmless;
use super::lines::lines;
use super::presenter::{Change, Presenter, transient_change};
use super::screen::Screen;
use crate::error::CliError;
use crate::report::thousands;
use crate::results::Unwritten;

/// Prints the words of the main agent to standard output, and everything else to standard error.
#[derive(Debug)]
pub(crate) struct AnswerStream {
    screen: Screen,
    presenter: Arc<Presenter>,
    output: AnswerOutput,
    state: Mutex<State>,
}

/// Whether the words of the agent are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerOutput {
    /// They go to standard output.
    Words,
    /// Standard output has the events.
    None,
}

#[derive(Debug, Default)]
struct State {
    words: Words,
    activity: Activity,
    denied: Vec<DeniedCall>,
    unwritten: Option<Unwritten>,
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

    /// Returns the calls that were denied since the last time.
    pub(crate) fn take_denied(&self) -> Vec<DeniedCall> {
        std::mem::take(&mut self.state().denied)
    }

    /// Returns an error if a part of the answer could not be written. A closed pipe is none.
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
            self.screen.begin();
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
        if !(self.output == AnswerOutput::Words && is_of_main_agent(&event.kind)) {
            self.presenter.stays(debug_line(&event.kind));
        }
        if !is_about_the_session(&event.kind) {
            for line in lines(event, state.activity.tools()) {
                self.presenter.stays(Some(line));
            }
        }
        match transient_change(&event.kind, &mut state.activity) {
            Change::Keep => {}
            Change::Show(about, text) => self.screen.show(about, &text),
            Change::Clear => self.screen.clear(),
        }
    }
}

/// Tells whether an event is a text of the main agent, which is its answer.
fn is_of_main_agent(kind: &RunEventKind<'_>) -> bool {
    matches!(
        kind,
        RunEventKind::Agent {
            stream: StreamEvent::Text { agent: None, .. }
        }
    )
}

/// Tells whether an event is the start or the end of the session. The command prints the result
/// itself.
fn is_about_the_session(kind: &RunEventKind<'_>) -> bool {
    matches!(
        kind,
        RunEventKind::FlowStarted { .. }
            | RunEventKind::SessionStarted { .. }
            | RunEventKind::SessionEnded { .. }
            | RunEventKind::BudgetSpent { .. }
    )
}

/// Selects the words of the main agent from the events of a session, each of them once.
///
/// Some backends emit the pieces of a model's answer and afterwards the whole text, others the text
/// alone.
#[derive(Debug, Default)]
struct Words {
    session: Option<SpanId>,
    /// Pieces that no text has repeated yet.
    pieces: String,
    has_open_line: bool,
}

impl Words {
    /// Returns what to print next, if there is anything.
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
                self.pieces.clear();
                return None;
            }
            RunEventKind::ModelChunk {
                part: ModelPart::Text,
                text,
            } if is_main_model => {
                self.pieces.push_str(text);
                (*text).to_owned()
            }
            // Another attempt repeats the pieces of a failed one.
            RunEventKind::ModelFailed { .. } if is_main_model => self.end_of_line().to_owned(),
            RunEventKind::Agent {
                stream:
                    StreamEvent::Text {
                        text, agent: None, ..
                    },
            } => self.rest_of(text),
            RunEventKind::Agent {
                stream: StreamEvent::ToolInvocation { agent: None, .. },
            }
            | RunEventKind::SessionEnded { .. } => self.end_of_line().to_owned(),
            _ => return None,
        };
        if text.is_empty() {
            return None;
        }
        self.has_open_line = !text.ends_with('\n');
        // Tabs are kept: the answer may be a Makefile.
        let harmless_parts: Vec<_> = text.split('\t').map(harmless).collect();
        Some(harmless_parts.join("\t"))
    }

    /// Returns the part of `text` that was not among the pieces.
    fn rest_of(&mut self, text: &str) -> String {
        let pieces = std::mem::take(&mut self.pieces);
        // Some backends trim the text, and not its pieces.
        let (printed, whole) = match pieces.strip_prefix(text).or(text.strip_prefix(&*pieces)) {
            Some(_) => (pieces.as_str(), text),
            None => (pieces.trim_start(), text.trim_start()),
        };
        if let Some(later) = printed.strip_prefix(whole) {
            later.clone_into(&mut self.pieces);
            return String::new();
        }
        match whole.strip_prefix(printed) {
            Some(rest) => rest.to_owned(),
            None => format!("{}{text}", self.end_of_line()),
        }
    }

    fn end_of_line(&self) -> &'static str {
        match self.has_open_line {
            true => "\n",
            false => "",
        }
    }
}

/// Describes what an answer took: `$0.0123, 14s, 3 tools, 8,412 tokens`.
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
        counted(u32::try_from(tools).unwrap_or(u32::MAX)),
    ];
    if result.tokens.total() > 0 {
        parts.push(format!("{} tokens", thousands(result.tokens.total())));
    }
    if let Some(total) = total {
        parts.push(format!("{} in total", cost(&total)));
    }
    parts.join(", ")
}

/// Writes a cost, also one of which nothing is known.
pub(crate) fn cost(cost: &CostTotal) -> String {
    match *cost == CostTotal::unknown() {
        true => "cost unknown".to_owned(),
        false => cost.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{
        Failure, InstructionName, ModelAsked, ModelMessages, SessionResult, TokenUsage, TraceId,
    };
    use serde_json::{Value, json};

    use super::*;

    /// What happens in a session.
    enum Event {
        Piece(&'static str),
        Thought(&'static str),
        PieceOfHelper(&'static str),
        ModelFails,
        ModelStarts,
        Text(&'static str),
        TextOfHelper(&'static str),
        Tool,
        Ends,
    }

    use Event::*;

    /// Returns what is printed of `events`, with `|` between the prints.
    fn printed(events: &[Event]) -> String {
        let session = SpanContext::root(TraceId(1), SpanId(1)).child(SpanId(2));
        let (model, tool) = (session.child(SpanId(3)), session.child(SpanId(4)));
        let mut words = Words::default();
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
            SessionResult::completed(),
        );
        let none = || Value::Null;
        let asked = ModelAsked::new("m", ModelMessages::new(0, &none));
        let mut prints = Vec::new();
        for event in events {
            let chunk = |part, text: &'static str| RunEventKind::ModelChunk { part, text };
            let stream = match event {
                Text(text) => StreamEvent::text(*text),
                TextOfHelper(text) => StreamEvent::text(*text).by_agent("helper"),
                _ => StreamEvent::tool_invocation("1", "Read", json!({})),
            };
            let (span, kind) = match event {
                Piece(text) => (&model, chunk(ModelPart::Text, text)),
                Thought(text) => (&model, chunk(ModelPart::Thinking, text)),
                PieceOfHelper(text) => (&tool.child(SpanId(5)), chunk(ModelPart::Text, text)),
                ModelStarts => (&model, RunEventKind::ModelStarted { asked: &asked }),
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
            (&[Piece("Hel"), Piece("lo."), Ends], "Hel|lo.|\n"),
            (
                &[Piece("Hel"), Piece("lo."), Text("Hello."), Ends],
                "Hel|lo.|\n",
            ),
            (&[Piece("Hel"), Text("Hello."), Ends], "Hel|lo.|\n"),
            (
                &[Piece("\n\nHello."), Text("Hello."), Ends],
                "\n\nHello.|\n",
            ),
            (
                &[Piece("One."), Piece("Two."), Text("One."), Text("Two.")],
                "One.|Two.",
            ),
            (
                &[
                    Thought("hm"),
                    PieceOfHelper("sub"),
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
                    Piece("Hal"),
                    ModelFails,
                    ModelStarts,
                    Piece("Hello."),
                    Text("Hello."),
                ],
                "Hal|\n|Hello.",
            ),
            // A backend that trims its texts.
            (
                &[
                    Piece("One.\n"),
                    Text("One."),
                    ModelStarts,
                    Piece("Two."),
                    Text("Two."),
                ],
                "One.\n|Two.",
            ),
            (&[Piece("Halo."), Text("Hello.")], "Halo.|\nHello."),
            (&[Text("a\tb\u{1b}[2J\r\n")], "a\tb [2J \n"),
            (&[Ends], ""),
        ] {
            assert_eq!(printed(events), expected);
        }
    }

    #[test]
    fn an_unknown_cost_is_not_printed_as_nothing() {
        let mut total = CostTotal::unknown();
        assert_eq!(cost(&total), "cost unknown");

        total.add("0.25".parse().ok());
        assert_eq!(cost(&total), "at least $0.25 (1 unknown)");
        assert_eq!(cost(&CostTotal::default()), "$0.00");
    }
}
